"""Trade-off curves: how well a claim of privacy lets anybody tell two worlds apart, at every rate of false alarms.

A bound that assumes that the truth is a curve of one process with more or less Gaussian noise is another statement
than a bound without assumptions. It says how much noise the observations still allow, and what that noise is worth at
delta. Since the shape of the curve is given, all observations count for it, and not only the rare ones that happen
with a probability around delta.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

from privet.errors import InvalidParameter
from privet.privacy.accounting.losses import Losses, paper_sigma
from privet.privacy.accounting.processes import Process
from privet.privacy.accounting.steps import step_losses

__all__ = ["NoiseFamily", "TradeOff"]

Array = NDArray[np.float64]

_POINTS = 200  # epsilons at which a curve is held; fewer make the claim weaker, and never stronger
_FARTHEST = 1e-12  # the delta up to which a curve is followed
_ROUNDING = 1e-14  # of differences of sums that are at most 1, given to delta
_MOST_NOISE = 16.0  # times the noise of the run: a family member so private is not told from perfect privacy
_LEAST_NOISE = 0.25  # times that noise: nobody claims to have added so much more than was added
_CLOSE = 0.002  # relative precision of the noise


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


@dataclass(frozen=True)
class NoiseFamily:
    """The dominating pairs of a canary with a number of listeners, for every noise multiplier.

    Args:
        process: A sampling process whose ``canary_multiplier`` is not None.
        degree: The number of nodes that listen to the canary.
    """

    process: Process
    degree: int

    def curve(self, noise_multiplier: float) -> TradeOff:
        """Return the trade-off curve of a run with this noise."""
        return _curve(self, noise_multiplier)

    def epsilon(self, noise_multiplier: float, delta: float) -> float:
        """Return epsilon at delta of a run with this noise."""
        return max(losses.epsilon(delta) for losses in _losses(self.process, self.degree, noise_multiplier))

    def least_refuted(self, refuted: Callable[[TradeOff], bool], around: float) -> float:
        """Return the least noise multiplier whose curve is refuted; infinite if none is.

        Args:
            refuted: Tells whether the observations refute a curve.
            around: A noise multiplier near which to look.
        """
        low, high = _LEAST_NOISE * around, _MOST_NOISE * around
        if not refuted(self.curve(high)):
            return math.inf
        middle = 1.2 * around  # most audits end near here
        while high > low * (1 + _CLOSE):
            low, high = (low, middle) if refuted(self.curve(middle)) else (middle, high)
            middle = math.sqrt(low * high)
        return high

    def epsilon_lower(self, refuted: Callable[[TradeOff], bool], around: float, delta: float) -> float:
        """Return the epsilon at delta of the noisiest member that is not refuted; 0 if all are possible.

        Args:
            refuted: Tells whether the observations refute a curve.
            around: A noise multiplier near which to look.
            delta: The delta at which to read epsilon.
        """
        noise = self.least_refuted(refuted, around)
        return self.epsilon(noise, delta) if math.isfinite(noise) else 0.0


@lru_cache(maxsize=64)
def _curve(family: NoiseFamily, noise_multiplier: float) -> TradeOff:
    return TradeOff.of_losses(_losses(family.process, family.degree, noise_multiplier))


@lru_cache(maxsize=64)
def _losses(process: Process, degree: int, noise_multiplier: float) -> tuple[Losses, Losses]:
    multiplier = process.canary_multiplier or 0.0
    pick = min(1.0, multiplier / degree) if degree else 1.0
    forward, backward = step_losses(paper_sigma(noise_multiplier), process.rate, degree, pick)
    return forward.composed(process.steps), backward.composed(process.steps)
