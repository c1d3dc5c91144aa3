"""Membership inference: how well an attack on a release tells who took part, and how well any attack can."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidData

__all__ = ["advantage", "largest_advantage"]

Array = NDArray[np.float64]


def advantage(members: Array, others: Array) -> float:
    """Return the largest true-positive minus false-positive rate of calling those with large scores members.

    Args:
        members: Scores of runs with the target.
        others: Scores of runs without it.

    >>> advantage(np.array([1.0, 3.0]), np.array([0.0, 1.0]))
    0.5
    """
    if not members.size or not others.size:
        raise InvalidData("A membership attack needs scores of at least one member and of at least one other.")
    thresholds = np.unique(np.concatenate([members, others]))
    hits, alarms = (1 - np.searchsorted(np.sort(x), thresholds, side="right") / x.size for x in (members, others))
    return float(max(0.0, (hits - alarms).max()))


def largest_advantage(epsilon: float, delta: float) -> float:
    """Return (e^epsilon - 1 + 2 delta) / (e^epsilon + 1), which no attack on a private release can exceed."""
    return min(1.0, math.tanh(epsilon / 2) + 2 * delta / (math.exp(min(epsilon, 700.0)) + 1))
