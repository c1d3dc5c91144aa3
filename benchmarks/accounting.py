"""The node-level accountant at the paper's Facebook setting, beside dp_accounting's own Gaussian mixtures.

The reference builds the same dominating pair for one out-degree (D = M, the worst) with
``from_mixture_gaussian_mechanism`` and mixes it over C. `ratio` is its time over ours for that one degree;
`epsilon_seconds` is for all degrees in [0, N - 1], and `calibrate_seconds` for the noise of epsilon = 2.
Where all degrees are nearly equally bad (epsilon 16), `excess` is the part of epsilon that bounding degrees together
costs, beyond the worst single degree that was found, and `calibration_gap` the part of the target that is left unused.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from dp_accounting.pld import privacy_loss_distribution as pld

from privet.privacy.accounting.degrees import binomial, shift_weights
from privet.privacy.accounting.losses import compose_steps, noise_multiplier_of, paper_sigma
from privet.privacy.accounting.processes.heterogeneous_poisson import HeterogeneousPoisson
from privet.privacy.accounting.steps import step_losses
from privet.privacy.delta import chosen_delta

NODES, SIGMA, MULTIPLIER, STEPS = 22_470, 12.7312, 1, 50


def run(quick: bool = False) -> dict[str, Any]:
    """Seconds of both for one degree, of ours for all of them, and the two epsilons."""
    q, delta = 4096 / NODES, chosen_delta("paper", NODES)
    nodes = 100 if quick else NODES
    process = HeterogeneousPoisson(rate=q, multiplier=MULTIPLIER, steps=STEPS, num_nodes=nodes)
    ours, our_seconds = _timed(lambda: compose_steps(step_losses(SIGMA, q, MULTIPLIER, 1.0), STEPS, delta))
    theirs, their_seconds = _timed(lambda: _reference(q, delta, 1e-3 if quick else 1e-4))
    value, epsilon_seconds = _timed(lambda: process.epsilon(noise_multiplier_of(SIGMA), delta))
    noise_multiplier, calibrate_seconds = _timed(lambda: process.calibrate(2.0, delta))
    return {
        "benchmark": "accounting",
        "epsilon_one_degree": ours,
        "epsilon_one_degree_dp_accounting": theirs,
        "epsilon": value,
        "sigma_for_2": paper_sigma(noise_multiplier),
        "seconds_one_degree": our_seconds,
        "seconds_one_degree_dp_accounting": their_seconds,
        "epsilon_seconds": epsilon_seconds,
        "calibrate_seconds": calibrate_seconds,
        "ratio": their_seconds / our_seconds,
        **_where_degrees_are_alike(300 if quick else 9_498),
        "met": epsilon_seconds < 10 and calibrate_seconds < 60,
    }


def _where_degrees_are_alike(nodes: int) -> dict[str, float]:
    process = HeterogeneousPoisson(rate=0.43, multiplier=1, steps=21, num_nodes=nodes)
    noise_multiplier = process.calibrate(16.0, 4e-5)
    parts = {part.key: part.value for part in process.explain(noise_multiplier, 4e-5).epsilon}
    reached = sum(parts.values())
    return {"excess": parts.get("brackets", 0.0) / reached, "calibration_gap": 1 - reached / 16.0}


def _reference(q: float, delta: float, interval: float) -> float:
    chances, _ = binomial(MULTIPLIER, q, 1e-15)
    mixed, total = None, 0.0
    for count, chance in enumerate(chances):
        weights = shift_weights(q, binomial(count, 1.0, 1e-15)[0])
        shifts = [i / 2 for i in range(weights.size)]
        part = pld.from_mixture_gaussian_mechanism(SIGMA, shifts, weights, value_discretization_interval=interval)
        total += chance
        mixed = part if mixed is None else mixed.compute_mixture(part, 1 - chance / total)
    return float(mixed.self_compose(STEPS).get_epsilon_for_delta(delta))


def _timed(work: Callable[[], float]) -> tuple[float, float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start


if __name__ == "__main__":
    print(json.dumps(run()))
