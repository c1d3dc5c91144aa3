"""Intervals of 95 %: of a share by Wilson's score, of a mean by Student's t, of a ratio by Fieller's theorem."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

__all__ = ["Estimate", "fieller", "mean_interval", "possible_shares", "possible_value", "share_interval"]

Array = NDArray[np.float64]
_Z = 1.959963984540054


@dataclass(frozen=True)
class Estimate:
    """A figure about people, with a 95 % interval.

    Attributes:
        value: The estimate, brought into the possible range; shares of one question sum to 1.
        low: The lower end of the interval.
        high: The upper end.
        unbiased: The estimate before that: it may lie outside, and averages of it over studies are right.
    """

    value: float
    low: float
    high: float
    unbiased: float

    @property
    def told(self) -> bool:
        """True if there is an estimate at all."""
        return math.isfinite(self.value)


def share_interval(share: Array, people: float) -> tuple[Array, Array]:
    """Return Wilson's interval of the share of people who sent one of two symbols.

    Args:
        share: The share that was sent, an array of any shape.
        people: The number of people.
    """
    shrink = 1 + _Z**2 / people
    centre = (share + _Z**2 / (2 * people)) / shrink
    half = _Z * np.sqrt(share * (1 - share) / people + _Z**2 / (4 * people**2)) / shrink
    return centre - half, centre + half


def mean_interval(mean: Array, variance: Array, people: float) -> tuple[Array, Array]:
    """Return Student's interval of a mean.

    Args:
        mean: The mean, an array of any shape.
        variance: The variance of one person's figure.
        people: The number of people; a single one says nothing about the variance.
    """
    if people < 2:
        return np.full_like(mean, -np.inf), np.full_like(mean, np.inf)
    half = float(stdtrit(people - 1, 0.975)) * np.sqrt(np.maximum(variance, 0.0) / people)
    return mean - half, mean + half


def fieller(top: float, bottom: float, spread: Array, people: float) -> tuple[float, float]:
    """Return Fieller's interval of a ratio whose denominator is positive but may be known badly.

    A ratio R belongs to it if top - R bottom does not differ from 0 significantly. Where the denominator cannot be told
    from 0 the interval is everything, which is the truth about such data.

    Args:
        top: The estimated numerator.
        bottom: The estimated denominator.
        spread: The covariance matrix of both estimates.
        people: The number of people that they come from.
    """
    if people < 2:
        return -math.inf, math.inf
    spread = float(stdtrit(people - 1, 0.975)) ** 2 * spread
    square, half, constant = bottom**2 - spread[1, 1], top * bottom - spread[0, 1], top**2 - spread[0, 0]
    rest = half**2 - square * constant
    if square <= 0 or bottom <= 0 or rest < 0:
        return -math.inf, math.inf
    return float((half - math.sqrt(rest)) / square), float((half + math.sqrt(rest)) / square)


def possible_shares(shares: Array) -> Array:
    """Return the shares nearest to some estimates that are at least 0 and sum to 1.

    >>> possible_shares(np.array([0.7, 0.5, -0.2])).round(3).tolist()
    [0.6, 0.4, 0.0]
    """
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(shares) + 1)
    return np.asarray(np.maximum(shares - excess[np.flatnonzero(falling > excess)[-1]], 0.0))


def possible_value(unbiased: float, value: float, ends: tuple[Any, Any], bounds: tuple[float, float]) -> Estimate:
    """Return an estimate in its possible range, whose interval is cut to the range and holds the estimate.

    Args:
        unbiased: The unbiased estimate.
        value: The estimate in the possible range.
        ends: The ends of the honest interval, around the unbiased estimate or the nearest possible one.
        bounds: The smallest and the largest possible value.
    """
    low, high = (min(max(float(end), bounds[0]), bounds[1]) for end in ends)
    return Estimate(float(value), min(low, float(value)), max(high, float(value)), float(unbiased))
