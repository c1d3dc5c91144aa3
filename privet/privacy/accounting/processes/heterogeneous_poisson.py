"""HeterPoisson's heterogeneous Poisson sampling of sub-graphs. The proof is in docs/accountant.md.

One step, target node of out-degree D, base rate q, multiplier M, p = min(1, M/D), clip 1/2 and noise N(0, sigma^2 I):
given that C ~ Bi(D, q) of its out-neighbours are central, taking part shifts the clipped sum by at most

    1/2  with probability q                     (the node is central, and removed wherever it is peripheral)
    k    with probability (1 - q) Bi(k; C, p)   (k sub-graphs picked it, each moves by at most 1)

so the step is dominated by that scalar mixture of Gaussians against N(0, sigma^2), with C revealed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from privet.privacy.accounting import sml
from privet.privacy.accounting.degrees import over_degrees
from privet.privacy.accounting.losses import compose_steps
from privet.privacy.accounting.processes._base import DEGREES_ARE_PUBLIC, NODE_ALONE, Comparison, Noise, Process
from privet.privacy.accounting.program import program_epsilon
from privet.privacy.accounting.steps import Step, bracket_step, revealed_step, sml_step
from privet.privacy.guarantee import ADJACENCY, Unit

__all__ = ["HeterogeneousPoisson"]


@dataclass(frozen=True, kw_only=True)
class HeterogeneousPoisson(Process):
    """Sub-graphs around Poisson-sampled centres, of which a node is in ``multiplier`` others in expectation.

    Args:
        multiplier: M; a centre picks a neighbour with probability min(1, M / the neighbour's out-degree) (default 1).
        reads_degrees: True if the network's aggregation also reads degrees of the whole graph (default False).
    """

    name: ClassVar[str] = "heterogeneous-poisson"
    noises: ClassVar[tuple[str, ...]] = ("gaussian", "sml")
    claim: ClassVar[str] = (
        "the paper's claim (S&P 2024) for SML noise of the same sigma, which does not hold in more than one dimension; "
        "the authors' later version (arXiv 2311.06888 v2) uses a mixture of Gaussians instead"
    )
    bounds: ClassVar[dict[str, tuple[Step, int]]] = {"gaussian": (bracket_step, 64), "sml": (sml_step, 12)}
    """The losses of a step, and how many brackets of degrees are looked at, by kind of noise."""

    multiplier: float = 1.0
    reads_degrees: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require("multiplier", self.multiplier >= 0, "a number of at least 0")

    def published_epsilon(self, noise_multiplier: float, delta: float) -> float | None:
        """Return the paper's Theorem 2 for SML noise of the same standard deviation: a claim, which does not hold."""
        sigma, _, _ = self._checked(noise_multiplier, delta, "gaussian")
        return sml.published_epsilon(sigma, self.rate, self._picks, self.steps, delta, self.num_nodes)

    def published_noise_multiplier(self, target_epsilon: float, delta: float) -> float:
        """Return the noise that the paper would add for this epsilon: to compare with, not to rely on."""

        def claims_more(noise_multiplier: float) -> bool:
            return (self.published_epsilon(noise_multiplier, delta) or 0.0) > target_epsilon

        low, high = 0.0, 1.0
        while claims_more(high):
            low, high = high, 2 * high
        while high - low > 1e-4 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if claims_more(middle) else (low, middle)
        return high

    def comparisons(self, noise_multiplier: float, delta: float, noise: Noise = "gaussian") -> tuple[Comparison, ...]:
        """Return the worst out-degree, and epsilon if the number of sub-graphs were revealed too (sound, larger)."""
        sigma, delta, noise = self._checked(noise_multiplier, delta, noise)
        _, degree = _worst_degree(self, sigma, delta, noise)
        revealed = self.epsilon(noise_multiplier, delta, noise)  # the bound for SML noise reveals k in any case
        if noise == "gaussian":
            looser = program_epsilon(lambda left: self._over_degrees(revealed_step, sigma, left, 12)[0], delta)
            revealed = max(revealed, looser)
        return (
            Comparison("k_revealed_epsilon", "epsilon if the count of sub-graphs were revealed", revealed),
            Comparison("worst_out_degree", "worst out-degree", degree),
        )

    @property
    def adjacency(self) -> str:
        """With public degrees where they are read, and without any assumption elsewhere."""
        return ADJACENCY[Unit.NODE] if self.public_facts else NODE_ALONE

    @property
    def public_facts(self) -> tuple[str, ...]:
        """Degrees, unless neither the sampler nor the aggregation reads them."""
        return (DEGREES_ARE_PUBLIC,) if self.multiplier > 0 or self.reads_degrees else ()

    @property
    def canary_multiplier(self) -> float | None:
        """M."""
        return self.multiplier

    @property
    def _picks(self) -> float:
        """M, where N does for more: nobody has as many listeners."""
        return min(self.multiplier, self.num_nodes)

    def _epsilon(self, sigma: float, delta: float, noise: Noise) -> float:
        return _worst_degree(self, sigma, delta, noise)[0]

    def _lower_bound(self, sigma: float, delta: float) -> float:
        """The largest degree that is not sampled: usually the worst one."""
        degree = min(math.floor(self._picks), self.num_nodes - 1)
        return self._of_degrees(self.bounds["gaussian"][0], sigma, delta, degree, degree)

    def _of_degrees(self, step: Step, sigma: float, delta: float, low: int, high: int) -> float:
        losses = step(sigma, self.rate, self._picks, delta / self.steps, low, high)
        return compose_steps(losses, self.steps, delta)

    def _over_degrees(self, step: Step, sigma: float, delta: float, most_bounds: int) -> tuple[float, int]:
        def bound(low: int, high: int) -> float:
            return self._of_degrees(step, sigma, delta, low, high)

        return over_degrees(bound, self._picks, self.num_nodes - 1, most_bounds)


@lru_cache(maxsize=256)
def _worst_degree(process: HeterogeneousPoisson, sigma: float, delta: float, noise: Noise) -> tuple[float, int]:
    step, most_bounds = process.bounds[noise]
    return process._over_degrees(step, sigma, delta, most_bounds)
