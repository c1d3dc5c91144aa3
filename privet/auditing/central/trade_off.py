"""Trade-off curves: how well a claim of privacy lets anybody tell two worlds apart, at every rate of false alarms."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

from privet.errors import InvalidParameter
from privet.privacy.accounting.losses import Losses

__all__ = ["TradeOff"]

Array = NDArray[np.float64]

_POINTS = 200  # epsilons at which a curve is held; fewer make the claim weaker, and never stronger
_FARTHEST = 1e-12  # the delta up to which a curve is followed
_ROUNDING = 1e-14  # of differences of sums that are at most 1, given to delta


@dataclass(frozen=True, eq=False)
class TradeOff:
    """The claim of (epsilon, delta)-privacy for several epsilons at once, in both directions.

    An event that happens with probability ``alarms`` in one world happens with probability at most delta + e^epsilon
    alarms in the other, for every pair. It is f-DP for the function f that these lines enclose.

    Attributes:
        epsilons: The epsilons, at least 0.
        deltas: The delta of each.
    """

    epsilons: Array
    deltas: Array

    @classmethod
    def approximate(cls, epsilon: float, delta: float) -> Self:
        """Return the claim of (epsilon, delta)-privacy alone."""
        if not (0 <= epsilon < math.inf and 0 <= delta <= 1):
            raise InvalidParameter("epsilon", "finite and at least 0, with a delta from 0 to 1", epsilon)
        return cls(np.array([epsilon]), np.array([delta]))

    @classmethod
    def gaussian(cls, mu: float) -> Self:
        """Return the curve of N(mu, 1) against N(0, 1), of Gaussian differential privacy.

        >>> round(TradeOff.gaussian(1.0).least_alarms(0.5), 3)
        0.159
        """
        if not 0 < mu < math.inf:
            raise InvalidParameter("mu", "a finite number above 0", mu)
        epsilons = np.linspace(0.0, mu * (mu / 2 + 7.0), _POINTS)
        lower = np.exp(epsilons + log_ndtr(-epsilons / mu - mu / 2))
        return cls(epsilons, np.maximum(0.0, ndtr(mu / 2 - epsilons / mu) - lower))

    @classmethod
    def of_losses(cls, directions: tuple[Losses, Losses]) -> Self:
        """Return the curve of privacy losses, at each epsilon the worse of the two directions."""
        farthest = max(losses.epsilon(max(_FARTHEST, 2 * losses.infinite)) for losses in directions)
        epsilons = farthest * np.linspace(0.0, 1.0, _POINTS) ** 1.5
        return cls(epsilons, np.max([_deltas(losses, epsilons) for losses in directions], axis=0))

    def least_alarms(self, hits: float) -> float:
        """Return the least rate of false alarms at which the claim allows this rate of hits."""
        slopes, heights, ends = self._lines
        line = bisect_right(ends, hits)
        return max(0.0, slopes[line] * hits - heights[line])

    @cached_property
    def _lines(self) -> tuple[list[float], list[float], list[float]]:
        """The lines alarms >= slope * hits - height that are the largest somewhere, and where each one ends."""
        both = np.concatenate([self.epsilons, -self.epsilons])
        mirrored = 1 - np.exp(-self.epsilons) * (1 - self.deltas)  # the same event's complement
        slopes = np.exp(-both)
        heights = slopes * np.concatenate([self.deltas, mirrored])
        kept = [(0.0, 0.0)]
        ends: list[float] = []
        for slope, height in sorted(zip(slopes.tolist(), heights.tolist(), strict=True)):
            if slope == kept[-1][0]:
                continue  # of the same slope the first, which is the higher line
            while True:
                crossing = (height - kept[-1][1]) / (slope - kept[-1][0])
                if not ends or crossing > ends[-1]:
                    break
                kept.pop()
                ends.pop()
            kept.append((slope, height))
            ends.append(crossing)
        return [slope for slope, _ in kept], [height for _, height in kept], ends


def _deltas(losses: Losses, epsilons: Array) -> Array:
    """Return the delta at each epsilon: the mass of larger losses, less e^epsilon times that of the other world."""
    found = (losses.first + np.arange(losses.masses.size)) * losses.step
    above = np.append(np.cumsum(losses.masses[::-1])[::-1], 0.0)
    other = np.append(np.cumsum((losses.masses * np.exp(-found))[::-1])[::-1], 0.0)
    first = np.searchsorted(found, epsilons, side="right")
    gaps = above[first] - np.exp(epsilons) * other[first]
    return np.asarray(np.minimum(1.0, losses.infinite + np.maximum(0.0, gaps) + _ROUNDING))
