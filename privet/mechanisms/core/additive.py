"""Integer noise added on a public grid: the common form of the Laplace and the Gaussian mechanism."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privet.mechanisms.core.base import Distribution, Enclosure
from privet.mechanisms.core.coordinates import CoordinateMechanism
from privet.mechanisms.core.reports import Reports
from privet.mechanisms.primitives.bits import WORD_RESOLUTION, Bits
from privet.mechanisms.primitives.sampling import randomized_rounding, rounding_thresholds

__all__ = ["AdditiveNoise"]


@dataclass(frozen=True, kw_only=True)
class AdditiveNoise(CoordinateMechanism):
    """Round the position to one of steps + 1 grid points at random, keeping the mean, and add symmetric integer noise.

    The symbol is 2 (point + noise) - steps, so E[g] = steps (2u - 1). Values at distance of the whole range differ
    by ``grid_steps`` points. The *sum* is clipped to the range widened by ``reach`` on either side, so the alphabet is
    finite. (Clipping the noise instead would make some symbols possible under one value only.)
    """

    @property
    @abstractmethod
    def grid_steps(self) -> int:
        """The number of grid steps in a feature's range."""

    @property
    @abstractmethod
    def reach(self) -> int:
        """The number of grid steps that a report can lie beyond the range."""

    @property
    @abstractmethod
    def noise_variance(self) -> float:
        """In squared grid steps."""

    @abstractmethod
    def _noise(self, shape: tuple[int, ...], bits: Bits) -> NDArray[np.int64]:
        """Independent draws."""

    @abstractmethod
    def _probability(self, point: int, origin: int) -> Enclosure:
        """Rational bounds of the chance to report a grid point, given the one that the value was rounded to."""

    @abstractmethod
    def _log_point_probability(self, points: NDArray[np.int64], origins: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same in floating point, elementwise."""

    @abstractmethod
    def _noise_tail(self, distances: NDArray[np.int64]) -> NDArray[np.float64]:
        """The probability of noise of at least some distances, all above 0."""

    def _log_peak(self) -> float:
        nothing = np.zeros(1, dtype=np.int64)
        return float(self._log_point_probability(nothing, nothing)[0])

    def p_values(self, reports: Reports, most: int | None = None) -> NDArray[np.float64]:
        """From the symbol farthest beyond the range: the noise alone must have brought it there."""
        points = (self.validate(reports).symbols.astype(np.int64) + self.grid_steps) // 2
        beyond = np.maximum(-points, points - self.grid_steps).max(axis=1)
        tail = self._noise_tail(np.maximum(beyond, 1))
        return np.where(beyond > 0, np.minimum(1.0, 2 * self.sampled * tail), 1.0)

    @property
    def slope(self) -> float:
        """One grid step is two symbols."""
        return float(self.grid_steps)

    @property
    def largest_symbol(self) -> int:
        """An end of the range plus the reach."""
        return self.grid_steps + 2 * self.reach

    @property
    def num_symbols(self) -> int:
        """One a grid point within reach."""
        return self.largest_symbol + 1

    def in_alphabet(self, symbols: NDArray[np.signedinteger]) -> NDArray[np.bool_]:
        """Symbols have the parity of the number of steps."""
        wide = symbols.astype(np.int64)
        inside = (-self.largest_symbol <= wide) & (wide <= self.largest_symbol)
        return np.asarray(inside & ((wide - self.grid_steps) % 2 == 0))

    def _draw(self, positions: NDArray[np.float64], bits: Bits) -> NDArray[np.int64]:
        points = randomized_rounding(positions, self.grid_steps, bits) + self._noise(positions.shape, bits)
        return np.asarray(2 * np.clip(points, -self.reach, self.grid_steps + self.reach) - self.grid_steps)

    def _symbol_distribution(self, position: float) -> Distribution:
        whole, threshold = (int(v) for v in rounding_thresholds(position, self.grid_steps))
        chance = Fraction(threshold, WORD_RESOLUTION)
        result: Distribution = {}
        for symbol in range(-self.largest_symbol, self.largest_symbol + 1, 2):
            point = (symbol + self.grid_steps) // 2
            here = self._probability(point, whole)
            if not threshold:  # a value on the grid is not rounded
                result[symbol] = here
                continue
            above = self._probability(point, whole + 1)
            lower, upper = ((1 - chance) * a + chance * b for a, b in zip(here, above, strict=True))
            result[symbol] = (lower, upper)
        return result

    def _log_probability(self, positions: NDArray[np.float64], symbols: NDArray[np.int64]) -> NDArray[np.float64]:
        whole, threshold = rounding_thresholds(positions, self.grid_steps)
        points = (symbols + self.grid_steps) // 2
        with np.errstate(divide="ignore"):
            stay, step = np.log1p(-threshold / WORD_RESOLUTION), np.log(threshold / WORD_RESOLUTION)
        here, above = self._log_point_probability(points, whole), self._log_point_probability(points, whole + 1)
        return np.asarray(np.logaddexp(stay + here, step + above))

    def _second_moment(self, positions: NDArray[np.float64]) -> NDArray[np.float64]:
        whole, threshold = rounding_thresholds(positions, self.grid_steps)
        chance = threshold / WORD_RESOLUTION
        lower = 2.0 * whole - self.grid_steps
        return np.asarray((1 - chance) * lower**2 + chance * (lower + 2) ** 2 + 4 * self.noise_variance)
