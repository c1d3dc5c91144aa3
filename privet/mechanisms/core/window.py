"""A likely window that slides over a grid of cells: the common form of the square wave and the piecewise mechanism."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.mechanisms.core.base import Distribution, check_count
from privet.mechanisms.core.coordinates import CoordinateMechanism
from privet.mechanisms.core.tally import Channel
from privet.mechanisms.primitives.bits import WORD_RESOLUTION, Bits
from privet.mechanisms.primitives.odds import Odds, odds
from privet.mechanisms.primitives.sampling import randomized_rounding, rounding_thresholds

__all__ = ["SlidingWindow"]

_BINS = 32  # into which cells are gathered for the screening of reports


@dataclass(frozen=True, kw_only=True)
class SlidingWindow(CoordinateMechanism):
    """Report a cell near the value with the weight ``high``, any other cell with the weight ``low``.

    The output is a grid of steps + window cells. The position u is rounded at random to a start s in 0 .. steps so
    that E[s] = u * steps; cells s .. s + window - 1 are the likely ones. In the papers' continuous form the window is
    the interval around x and the grid is the whole output range. The symbol of cell c is the odd number
    2c + 1 - cells, so the range's middle is 0, and E[g] = window (high - low) / total * (2s - steps).

    Formal guarantee: epsilon-LDP, since high / low <= exp(epsilon / m) for every cell and any two starts.
    """

    steps: int = 256

    @property
    @abstractmethod
    def window_ratio(self) -> float:
        """The window's width relative to the distance that it slides, from the paper."""

    @cached_property
    def window(self) -> int:
        """The number of likely cells."""
        return max(1, round(self.window_ratio * self.steps))

    @property
    def cells(self) -> int:
        """The size of the output grid."""
        return self.steps + self.window

    @cached_property
    def odds(self) -> Odds:
        """The weights of a cell inside and outside the window."""
        return odds(self.share, highs=self.window, lows=self.steps)

    def _prepare(self) -> None:
        object.__setattr__(self, "steps", check_count(self.steps, "steps", 1, 1 << 14))
        odds(self.share)  # refuses an extreme budget before the window is computed from it
        _ = self.odds

    @property
    def slope(self) -> float:
        """window * steps * (high - low) / total."""
        return self.window * self.steps * (self.odds.high - self.odds.low) / self.odds.total

    @property
    def largest_symbol(self) -> int:
        """The symbol of the last cell."""
        return self.cells - 1

    @property
    def num_symbols(self) -> int:
        """One a cell."""
        return self.cells

    def in_alphabet(self, symbols: NDArray[np.signedinteger]) -> NDArray[np.bool_]:
        """Symbols have the parity of the last cell's."""
        wide = symbols.astype(np.int64)
        inside = (-self.largest_symbol <= wide) & (wide <= self.largest_symbol)
        return np.asarray(inside & ((wide - self.largest_symbol) % 2 == 0))

    @cached_property
    def _edges(self) -> NDArray[np.int64]:
        return np.unique(np.linspace(0, self.cells, min(_BINS, self.cells) + 1).astype(np.int64))

    def _channel(self) -> Channel:
        """Gather neighbouring cells; a symbol's distribution is a mixture of those of two starts."""
        edges = self._edges
        starts = np.arange(self.steps + 1)[:, None]
        inside = np.minimum(edges[1:], starts + self.window) - np.maximum(edges[:-1], starts)
        weights = np.diff(edges) * self.odds.low + np.maximum(inside, 0) * (self.odds.high - self.odds.low)
        return Channel(weights / self.odds.total, ordered=True)

    def _places(self, symbols: NDArray[np.signedinteger]) -> NDArray[np.int64]:
        cells = (symbols.astype(np.int64) - 1 + self.cells) // 2
        return np.asarray(np.searchsorted(self._edges, cells, side="right") - 1)

    def _log_peak(self) -> float:
        return math.log(self.odds.high / self.odds.total)

    def _draw(self, positions: NDArray[np.float64], bits: Bits) -> NDArray[np.int64]:
        starts = randomized_rounding(positions, self.steps, bits)
        draws = bits.below(self.odds.total, positions.shape)
        inside = draws < self.window * self.odds.high
        likely = starts + draws // self.odds.high
        other = (draws - self.window * self.odds.high) // self.odds.low
        cell = np.where(inside, likely, other + self.window * (other >= starts))
        return 2 * cell + 1 - self.cells

    def _cell_weights(self, start: int) -> list[int]:
        inside = range(start, start + self.window)
        return [self.odds.high if cell in inside else self.odds.low for cell in range(self.cells)]

    def _symbol_distribution(self, position: float) -> Distribution:
        whole, upper = (int(v) for v in rounding_thresholds(position, self.steps))
        chance = Fraction(upper, WORD_RESOLUTION)
        first, second = self._cell_weights(whole), self._cell_weights(min(whole + 1, self.steps))
        result: Distribution = {}
        for cell, (one, two) in enumerate(zip(first, second, strict=True)):
            probability = ((1 - chance) * one + chance * two) / self.odds.total
            result[2 * cell + 1 - self.cells] = (probability, probability)
        return result

    def _log_probability(self, positions: NDArray[np.float64], symbols: NDArray[np.int64]) -> NDArray[np.float64]:
        whole, upper = rounding_thresholds(positions, self.steps)
        cell, chance = (symbols - 1 + self.cells) // 2, upper / WORD_RESOLUTION

        def weight(start: NDArray[np.int64]) -> NDArray[np.int64]:
            return np.where((cell >= start) & (cell < start + self.window), self.odds.high, self.odds.low)

        return np.asarray(np.log(((1 - chance) * weight(whole) + chance * weight(whole + 1)) / self.odds.total))

    @cached_property
    def _second_moments(self) -> NDArray[np.float64]:
        """E[g^2 | start] for every start: low weight on all squares, the difference on the window's."""
        squares = (2.0 * np.arange(self.cells) + 1 - self.cells) ** 2
        running = np.concatenate([[0.0], np.cumsum(squares)])
        inside = running[self.window :] - running[: -self.window]
        weights = self.odds.low * squares.sum() + (self.odds.high - self.odds.low) * inside
        return np.asarray(weights / self.odds.total)

    def _second_moment(self, positions: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.interp(positions * self.steps, np.arange(self.steps + 1), self._second_moments)
