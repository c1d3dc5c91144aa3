"""Audit and membership attack on HeterPoisson with gradient canaries, by epsilon: its figure 8."""

from __future__ import annotations

import time
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from privet.auditing.central.canary import CanaryGame
from privet.auditing.central.lower_bound import epsilon_lower_bound
from privet.auditing.central.membership import advantage, largest_advantage
from privet.data import Graph
from privet.errors import InvalidParameter
from privet.mechanisms import SeededBits
from privet.reproduction.measures import Measurement
from privet.systems import CentralSystem, HeterPoisson

__all__ = ["CANARY_KINDS", "measure_canaries"]

CANARY_KINDS = ("private", "sml", "sml_projection", "claim")
_SML_DIMENSION = 32


def measure_canaries(
    kind: str, system: CentralSystem, graph: Graph, seed: int, what: str = "audit", runs: int = 20_000
) -> Measurement:
    """Measure an epsilon that an audit finds necessary, or the per cent of right guesses of a membership attack.

    Args:
        kind: "private" is Gaussian noise for the system's epsilon; "sml" the paper's noise for the same epsilon by its
            claim, seen whole; "sml_projection" the same, seen along the canary only as in the paper's own audit;
            "claim" what that epsilon allows.
        system: HeterPoisson with a target epsilon.
        graph: A graph of which only the number of nodes is read.
        seed: The seed of the games.
        what: "audit" or "attack" (default "audit").
        runs: The number of training runs in each world (default 20,000).
    """
    if not isinstance(system, HeterPoisson) or system.target_epsilon is None:
        raise InvalidParameter("system", "heterpoisson with a target epsilon", system.name)
    began = time.perf_counter()
    release = system.release(graph)
    if kind == "claim":
        most = largest_advantage(system.target_epsilon, release.delta)
        return {"test": 50 * (1 + most) if what == "attack" else system.target_epsilon}
    if kind == "private":
        game = CanaryGame(release.process, release.noise_multiplier, dimension=2)
    else:
        noise_multiplier = system.published_noise_multiplier(system.target_epsilon, graph.num_nodes)
        game = CanaryGame(release.process, noise_multiplier, "sml", _SML_DIMENSION)
    worlds = _played(game, runs, seed)["projection" if kind == "sml_projection" else "full"]
    found = 50 * (1 + advantage(*worlds)) if what == "attack" else epsilon_lower_bound(*worlds, release.delta)
    return {"test": found, "seconds": time.perf_counter() - began}


@lru_cache(maxsize=64)  # audit and attack look at the same games
def _played(game: CanaryGame, runs: int, seed: int) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    return game.play(runs, SeededBits(seed))
