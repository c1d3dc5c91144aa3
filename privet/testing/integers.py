"""The strongest check of a mechanism: which of all possible integer draws lead to which report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.mechanisms import Bits, Mechanism
from privet.testing.mechanisms import require

__all__ = ["ScriptedBits", "check_stated_integers", "measured_weights"]


class ScriptedBits(Bits):
    """Hand out prepared draws, so that a test can ask a program what it does with each.

    Args:
        *draws: The answers to the calls of ``below``, in order; a single number answers a call of any shape.
    """

    def __init__(self, *draws: Any) -> None:
        self.draws = list(draws)
        self.bounds: list[int] = []

    def words(self, count: int) -> NDArray[np.uint64]:
        """Refuse: raw words are not scripted."""
        raise AssertionError("only below() is scripted")

    def below(self, bound: Any, shape: Any) -> NDArray[np.int64]:
        """Return the next prepared draw, and remember the bound."""
        self.bounds.append(int(np.max(bound)))
        draw = np.asarray(self.draws.pop(0))
        draw = draw.reshape(shape) if draw.size > 1 else np.broadcast_to(draw, shape)
        require(bool((draw < bound).all()), "a prepared draw is beyond its bound")
        return np.asarray(draw, dtype=np.int64)


def check_stated_integers(mechanism: Mechanism, value: Any, rounding_draws: int = 0) -> None:
    """Compare the program's own integer weights with its exact distribution: they must be equal, not close.

    Args:
        mechanism: A mechanism of one coordinate that draws its symbol with one integer.
        value: One person's input.
        rounding_draws: The number of draws before that integer; they are answered with 0.
    """
    weights = measured_weights(mechanism, value, rounding_draws)
    total = sum(weights.values())
    stated = {key: bounds[0] for key, bounds in mechanism.exact_distribution(value).items()}
    measured = {key: Fraction(weight, total) for key, weight in weights.items()}
    require(measured == stated, f"{mechanism.name} draws with {measured}, and states {stated}")


def measured_weights(mechanism: Mechanism, value: Any, rounding_draws: int = 0) -> Counter[Hashable]:
    """Count how many of the possible integer draws give each report, by bisection between probes."""

    def reports_for(draws: NDArray[np.int64]) -> tuple[list[Hashable], int]:
        bits = ScriptedBits(*[np.int64(0)] * rounding_draws, draws)
        rows = np.full((len(draws), *np.shape(value)), value)
        reports = mechanism.perturb(rows, bits)
        return [mechanism.report_key(reports, row) for row in range(len(draws))], bits.bounds[-1]

    _, total = reports_for(np.zeros(1, dtype=np.int64))
    edges = np.unique(np.linspace(0, total - 1, 5000).astype(np.int64))
    keys, _ = reports_for(edges)
    found: list[tuple[Hashable, int]] = []
    start = 0
    for left, right, before, after in zip(edges[:-1], edges[1:], keys[:-1], keys[1:], strict=True):
        if before == after:
            continue
        low, high = int(left), int(right)
        while high - low > 1:
            middle = (low + high) // 2
            key = reports_for(np.array([middle]))[0][0]
            require(key in (before, after), "a third report lies between two probes: use more probes")
            low, high = (middle, high) if key == before else (low, middle)
        found.append((before, high - start))
        start = high
    found.append((keys[-1], total - start))
    _check_between(found, reports_for, total)
    weights: Counter[Hashable] = Counter()
    for key, length in found:
        weights[key] += length
    return weights


def _check_between(found: list[tuple[Hashable, int]], reports_for: Any, total: int) -> None:
    """Check 100,000 random draws: a stretch of other reports of 1e-4 would be missed with probability e^-10."""
    boundaries, order = np.cumsum([length for _, length in found]), [key for key, _ in found]
    draws = np.sort(np.random.default_rng(0).integers(total, size=100_000))
    places = np.searchsorted(boundaries, draws, side="right")
    for draw, place, key in zip(draws.tolist(), places.tolist(), reports_for(draws)[0], strict=True):
        require(order[place] == key, f"the draw {draw} gives {key}, where its neighbours give {order[place]}")
