"""The Laplace mechanism with exactly sampled discrete noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidParameter
from privet.mechanisms.core.additive import AdditiveNoise
from privet.mechanisms.core.base import Enclosure, check_count
from privet.mechanisms.primitives.bits import Bits
from privet.mechanisms.primitives.odds import exp_enclosure

__all__ = ["Laplace", "discrete_laplace"]

_TAIL = 45  # reports are clipped 45 scales beyond the range, which has probability below e^-45 < 2^-64


@dataclass(frozen=True, kw_only=True)
class Laplace(AdditiveNoise):
    """Discrete Laplace noise, Pr[k] proportional to exp(-|k| / scale), on a grid of ``steps`` steps a range.

    The scale is the smallest whole number of grid steps above steps / z, z = epsilon / m, so two values in the range
    differ in likelihood by at most exp(steps / scale) < e^z. In the papers every coordinate is perturbed with
    epsilon / d, whose variance grows with d^2 (``sample=dimension``). By default one coordinate is sampled, which
    has the smallest variance and grows with d.

    Formal guarantee: epsilon-LDP. The noise is drawn by the exact sampler of Canonne, Kamath and Steinke (2020),
    which needs uniform integers only; clipping the noisy value is post-processing. Its running time depends on the
    noise it draws: a device should not let an observer time it.
    """

    name = "laplace"
    words = "random noise of the Laplace distribution is added to each feature"
    example: ClassVar[Mapping[str, Any]] = {**AdditiveNoise.example, "dimension": 1}
    small: ClassVar[Mapping[str, Any]] = {"steps": 8}
    steps: int = 1 << 16

    def _prepare(self) -> None:
        object.__setattr__(self, "steps", check_count(self.steps, "steps", 1, 1 << 20))
        if not 2 <= self.scale <= 1 << 44:
            least, most = self.steps / (1 << 44), self.steps
            expected = f"such that the share of one symbol lies between {least:.2g} and {most} (finite precision)"
            raise InvalidParameter("epsilon", expected, f"a share of {float(self.share):.6g}")

    def _best_sample(self) -> int:
        return 1

    @cached_property
    def scale(self) -> int:
        """In grid steps, rounded up: strictly more than steps / z."""
        return math.floor(self.steps / self.share) + 1

    @property
    def grid_steps(self) -> int:
        """``steps``."""
        return self.steps

    @property
    def reach(self) -> int:
        """45 scales."""
        return _TAIL * self.scale

    @property
    def noise_variance(self) -> float:
        """2 g / (1 - g)^2 with g = exp(-1 / scale)."""
        return 2 * math.exp(-1 / self.scale) / math.expm1(-1 / self.scale) ** 2

    def _noise(self, shape: tuple[int, ...], bits: Bits) -> NDArray[np.int64]:
        return discrete_laplace(self.scale, shape, bits)

    def _noise_tail(self, distances: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.exp(-distances / self.scale) / (1 + math.exp(-1 / self.scale))

    @cached_property
    def _ratio(self) -> Enclosure:
        return exp_enclosure(Fraction(-1, self.scale))

    def _probability(self, point: int, origin: int) -> Enclosure:
        below, above = exp_enclosure(Fraction(-abs(point - origin), self.scale))
        small, large = self._ratio
        if point in (-self.reach, self.steps + self.reach):  # all of the tail was clipped to here: g^distance / (1 + g)
            return below / (1 + large), above / (1 + small)
        return below * (1 - large) / (1 + large), above * (1 - small) / (1 + small)

    def _log_point_probability(self, points: NDArray[np.int64], origins: NDArray[np.int64]) -> NDArray[np.float64]:
        clipped = (points == -self.reach) | (points == self.steps + self.reach)
        constant = np.where(clipped, 0.0, math.log(-math.expm1(-1 / self.scale)))
        return np.asarray(constant - np.abs(points - origins) / self.scale - math.log1p(math.exp(-1 / self.scale)))


def discrete_laplace(scale: int, shape: tuple[int, ...], bits: Bits) -> NDArray[np.int64]:
    """Exact draws with Pr[k] proportional to exp(-|k| / scale), from uniform integers alone.

    The magnitude is U + scale * V with U uniform below scale, accepted with probability exp(-U / scale), and V
    geometric with ratio 1/e; a negative zero is drawn again.
    """
    result = np.zeros(int(np.prod(shape, dtype=np.int64)), dtype=np.int64)
    pending = np.arange(result.size)
    while pending.size:
        offset = bits.below(scale, pending.shape)
        accepted = _bernoulli_exp(offset, scale, bits)
        pending, waiting = pending[accepted], pending[~accepted]
        magnitude = offset[accepted] + scale * _geometric(pending.size, bits)
        negative = bits.below(2, pending.shape) == 1
        result[pending] = np.where(negative, -magnitude, magnitude)
        pending = np.concatenate([waiting, pending[negative & (magnitude == 0)]])
    return result.reshape(shape)


def _bernoulli_exp(numerator: NDArray[np.int64], denominator: int, bits: Bits) -> NDArray[np.bool_]:
    """True with probability exp(-numerator / denominator), for numerators from 0 to the denominator.

    Count K = the first k at which a coin of bias numerator / (denominator k) fails; K is odd with that probability.
    """
    odd = np.zeros(numerator.shape, dtype=bool)
    running, k = np.arange(numerator.size), 0
    while running.size:
        k += 1
        hit = bits.below(denominator * k, running.shape) < numerator[running]
        odd[running[~hit]] = k % 2 == 1
        running = running[hit]
    return odd


def _geometric(count: int, bits: Bits) -> NDArray[np.int64]:
    """Pr[V >= v] = exp(-v)."""
    result = np.zeros(count, dtype=np.int64)
    running = np.arange(count)
    while running.size:
        running = running[_bernoulli_exp(np.ones(running.size, dtype=np.int64), 1, bits)]
        result[running] += 1
    return result
