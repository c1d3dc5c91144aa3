"""The Gaussian mechanism with tightly calibrated discrete noise: (epsilon, delta)-LDP."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from privet.errors import InvalidParameter
from privet.mechanisms.core.additive import AdditiveNoise
from privet.mechanisms.core.base import Enclosure, check_count
from privet.mechanisms.primitives.bits import Bits
from privet.privacy import Guarantee, Unit

__all__ = ["AnalyticGaussian", "analytic_sigma"]

_FINE = 64.0  # the grid is made fine enough that sigma is at least this many steps
_LEAST_SIGMA = 4.0
_MOST_EPSILON = 40.0  # the ends of the table cost e^epsilon times their probability
_RESOLUTION = 1 << 52
_TABLE_WIDTH = 10.0  # in sigmas; noise beyond it has a probability below 2e-23
_DENSITY_ERROR = 3e-14  # bounds the relative floating-point error of the density: a few ulp of an exponent up to 50
_SUMMED = 20_000.0  # up to this sigma the hockey-stick is summed point by point


@dataclass(frozen=True, kw_only=True)
class AnalyticGaussian(AdditiveNoise):
    """Discrete Gaussian noise, Pr[k] proportional to exp(-k^2 / (2 sigma^2)), the smallest sigma for (epsilon, delta).

    With m coordinates that each move by at most n grid steps, the privacy loss is a function of the sum of m noises,
    so delta(epsilon) is that of one discrete Gaussian of parameter sqrt(m) sigma against its shift by m n. (A sum of
    discrete Gaussians differs from a discrete Gaussian by a factor of 1 +- 10 m exp(-pi^2 sigma^2), Kairouz, Liu and
    Steinke 2021: below 1e-60 here since sigma >= 4.) Smaller moves, and the random rounding to the grid, are dominated:
    the noise is log-concave, and the hockey-stick divergence is jointly convex.

    Formal guarantee: (epsilon, delta)-LDP. The noise is drawn from a table of integer weights out of about 2^52 that
    are rounded up, so within the table no noise is less likely than it should be, up to a factor 1 - c: that costs m c
    of epsilon, and what is more likely costs m c of delta. Both are counted, and so are the ends of the table.
    Sampling fewer coordinates does not lower the variance here, so by default all are perturbed.
    """

    name = "analytic-gaussian"
    words = "random noise of the normal distribution is added to each feature"
    example: ClassVar[Mapping[str, Any]] = {**AdditiveNoise.example, "dimension": 1, "delta": 1e-4}
    delta: float
    steps: int | None = None

    def _prepare(self) -> None:
        if not (isinstance(self.delta, float) and 0 < self.delta < 1):
            raise InvalidParameter("delta", "a number between 0 and 1, both excluded", self.delta)
        if self.epsilon > _MOST_EPSILON:
            raise InvalidParameter("epsilon", f"at most {_MOST_EPSILON:g} (finite precision)", self.epsilon)
        if self.steps is not None:
            object.__setattr__(self, "steps", check_count(self.steps, "steps", 1, 1 << 20))
        _ = self.sigma

    def _best_sample(self) -> int:
        return self.dimension

    @cached_property
    def grid_steps(self) -> int:
        """``steps``, or the smallest power of two that makes sigma at least 64 steps."""
        if self.steps is not None:
            return self.steps
        unit = math.sqrt(self.sampled) * analytic_sigma(self.epsilon, self.delta)
        return 1 << max(0, math.ceil(math.log2(_FINE / unit)))

    @cached_property
    def sigma(self) -> float:
        """In grid steps: the smallest (to 1e-4) whose delta, with the table's error, is at most ``delta``."""
        start = self.grid_steps * math.sqrt(self.sampled) * analytic_sigma(self.epsilon, self.delta)
        low, high = max(_LEAST_SIGMA, 0.98 * start), max(_LEAST_SIGMA, 1.02 * start)
        if start > 1e9 or self._delta_of(high) > self.delta:
            expected = f"within reach of finite precision for {self.sampled} coordinates; a larger delta helps"
            found = f"epsilon {self.epsilon:g} with delta {self.delta:g}"
            raise InvalidParameter("epsilon, delta", expected, found)
        while high / low > 1.0001:
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self._delta_of(middle) > self.delta else (low, middle)
        return high

    def _delta_of(self, sigma: float) -> float:
        """An upper bound of the program's delta(epsilon) with this sigma."""
        count = self.sampled
        rounding = count * ((2 * _table_radius(sigma) + 1) / _RESOLUTION + 2 * _DENSITY_ERROR)
        tail = count * 2 * math.exp(float(log_ndtr(-_TABLE_WIDTH)))
        ideal = _hockey_stick(math.sqrt(count) * sigma, count * self.grid_steps, self.epsilon - rounding)
        return ideal + rounding + (1 + math.exp(self.epsilon)) * tail

    def guarantee(self) -> Guarantee:
        """(epsilon, delta)-LDP of the feature vector."""
        unprotected = ("that the user took part",)
        return Guarantee.local(Unit.FEATURES, self.epsilon, self.delta, unprotected=unprotected)

    @property
    def reach(self) -> int:
        """The end of the table."""
        return len(self._weights) // 2

    @cached_property
    def noise_variance(self) -> float:
        """The table's, exactly enough."""
        points = np.arange(-self.reach, self.reach + 1, dtype=np.float64)
        return float((points**2 * self._weights).sum() / self._total)

    @cached_property
    def _weights(self) -> NDArray[np.int64]:
        radius = _table_radius(self.sigma)
        points = np.arange(-radius, radius + 1, dtype=np.float64)
        return np.ceil(_density(points, self.sigma) * (1 + _DENSITY_ERROR) * _RESOLUTION).astype(np.int64)

    @cached_property
    def _cumulative(self) -> NDArray[np.int64]:
        return np.cumsum(self._weights)

    @property
    def _total(self) -> int:
        return int(self._cumulative[-1])

    def _noise(self, shape: tuple[int, ...], bits: Bits) -> NDArray[np.int64]:
        draws = bits.below(self._total, shape)
        return np.searchsorted(self._cumulative, draws, side="right").astype(np.int64) - self.reach

    def _noise_tail(self, distances: NDArray[np.int64]) -> NDArray[np.float64]:
        below = np.minimum(self.reach - distances, 2 * self.reach)  # the noise is symmetric: sum the lower tail
        return np.where(below >= 0, self._cumulative[np.maximum(below, 0)], 0) / self._total

    def _probability(self, point: int, origin: int) -> Enclosure:
        noise = point - origin
        weight = int(self._weights[noise + self.reach]) if abs(noise) <= self.reach else 0
        return Fraction(weight, self._total), Fraction(weight, self._total)

    def _log_point_probability(self, points: NDArray[np.int64], origins: NDArray[np.int64]) -> NDArray[np.float64]:
        noise = points - origins
        inside = np.abs(noise) <= self.reach
        weights = np.where(inside, self._weights[np.where(inside, noise + self.reach, 0)], 0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(weights / self._total))


@lru_cache(maxsize=256)
def analytic_sigma(epsilon: float, delta: float) -> float:
    """The smallest sigma for which real Gaussian noise at sensitivity 1 is (epsilon, delta)-DP (Balle and Wang 2018).

    Phi(1 / (2 sigma) - epsilon sigma) - e^epsilon Phi(-1 / (2 sigma) - epsilon sigma) = delta.
    """
    low, high = 1e-3, 1.0
    while _real_delta(high, epsilon) > delta:
        high *= 2
    while high / low > 1 + 1e-12:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _real_delta(middle, epsilon) > delta else (low, middle)
    return high


def _table_radius(sigma: float) -> int:
    return math.ceil(_TABLE_WIDTH * sigma) + 1


def _density(points: NDArray[np.float64], sigma: float) -> NDArray[np.float64]:
    # The sum of exp(-k^2 / (2 sigma^2)) over the integers is sqrt(2 pi) sigma (1 + 2 exp(-2 pi^2 sigma^2) + ...).
    return np.exp(-(points**2) / (2 * sigma**2)) / (math.sqrt(2 * math.pi) * sigma)


def _hockey_stick(sigma: float, shift: int, epsilon: float) -> float:
    """An upper bound of delta(epsilon) between the discrete Gaussian of parameter sigma, shifted, and itself.

    delta is the sum over the integers of g = max(0, density(y - shift) (1 - exp(epsilon - loss(y)))). For a large sigma
    it is bounded by the integral of g, the delta of real Gaussian noise, plus the maximum of g: g is log-concave, so
    it rises once and falls once.
    """
    if sigma > _SUMMED:
        start = epsilon * sigma**2 / shift + shift / 2
        points = start + np.linspace(0.0, 6 * sigma + shift, 4001)
        peak = float(_gain(points, sigma, shift, epsilon).max())
        return (_real_delta(sigma / shift, epsilon) + 1.01 * peak) * (1 + 1e-9)
    first = math.floor(epsilon * sigma**2 / shift + shift / 2) + 1
    last = first + math.ceil(12 * sigma) + max(0, shift - first)
    points = np.arange(first, last + 1, dtype=np.float64)
    return float(_gain(points, sigma, shift, epsilon).sum()) * (1 + 1e-9)


def _gain(points: NDArray[np.float64], sigma: float, shift: int, epsilon: float) -> NDArray[np.float64]:
    loss = (2 * points * shift - shift**2) / (2 * sigma**2)
    return np.maximum(_density(points - shift, sigma) * -np.expm1(epsilon - loss), 0.0)


def _real_delta(sigma: float, epsilon: float) -> float:
    """delta(epsilon) of real Gaussian noise at sensitivity 1."""
    half, drift = 1 / (2 * sigma), epsilon * sigma
    first, second = float(log_ndtr(half - drift)), float(log_ndtr(-half - drift))
    return math.exp(first) * -math.expm1(epsilon + second - first)
