"""The multi-bit mechanism (LPGNN, Algorithm 1): one bit about each of a few sampled coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.mechanisms.core.base import Distribution
from privet.mechanisms.core.coordinates import CoordinateMechanism
from privet.mechanisms.core.tally import Channel
from privet.mechanisms.primitives.bits import Bits
from privet.mechanisms.primitives.odds import Odds, odds

__all__ = ["MultiBit"]


@dataclass(frozen=True, kw_only=True)
class MultiBit(CoordinateMechanism):
    """Each sampled coordinate becomes +1 with probability 1/(e^z + 1) + u (e^z - 1)/(e^z + 1), else -1; z = epsilon/m.

    The estimate is the paper's rectifier (eq. 4), and m defaults to eq. 6, max(1, min(d, floor(epsilon / 2.18))).
    ``sample=dimension`` is the 1-bit mechanism.

    Formal guarantee: epsilon-LDP. The threshold lies in [low, high] out of low + high = total with
    high / low <= e^z, so either symbol's probability changes by at most that factor, whatever the value's rounding.

    >>> mechanism = MultiBit(epsilon=1.0, dimension=3, low=0.0, high=1.0)
    >>> mechanism.sampled, mechanism.guarantee().epsilon
    (1, 1.0)
    """

    name = "multi-bit"
    words = "a few features are drawn at random, and each is answered with one randomised bit"

    @cached_property
    def odds(self) -> Odds:
        """The weights of the likely and the unlikely bit at an end of the range."""
        return odds(self.share)

    def _prepare(self) -> None:
        _ = self.odds

    def _best_sample(self) -> int:
        return int(self.epsilon / 2.18)

    @property
    def slope(self) -> float:
        """(high - low) / total, which is (e^z - 1) / (e^z + 1) up to rounding."""
        return (self.odds.high - self.odds.low) / self.odds.total

    @property
    def largest_symbol(self) -> int:
        """Symbols are -1 and 1."""
        return 1

    @property
    def num_symbols(self) -> int:
        """Two."""
        return 2

    def in_alphabet(self, symbols: NDArray[np.signedinteger]) -> NDArray[np.bool_]:
        """-1 or 1, never 0."""
        return np.asarray(np.abs(symbols.astype(np.int64)) == 1)

    def _channel(self) -> Channel:
        return Channel.response(self.odds.high / self.odds.total, self.odds.low / self.odds.total, 2)

    def _places(self, symbols: NDArray[np.signedinteger]) -> NDArray[np.int64]:
        return (symbols.astype(np.int64) + 1) // 2

    def _log_peak(self) -> float:
        return math.log(self.odds.high / self.odds.total)

    def _thresholds(self, positions: NDArray[np.float64]) -> NDArray[np.int64]:
        span = self.odds.high - self.odds.low
        return self.odds.low + np.minimum(np.floor(positions * float(span)).astype(np.int64), span)

    def _draw(self, positions: NDArray[np.float64], bits: Bits) -> NDArray[np.int64]:
        return np.where(bits.below(self.odds.total, positions.shape) < self._thresholds(positions), 1, -1)

    def _symbol_distribution(self, position: float) -> Distribution:
        plus = Fraction(int(self._thresholds(np.array(position))), self.odds.total)
        return {-1: (1 - plus, 1 - plus), 1: (plus, plus)}

    def _log_probability(self, positions: NDArray[np.float64], symbols: NDArray[np.int64]) -> NDArray[np.float64]:
        plus = self._thresholds(positions)
        return np.asarray(np.log(np.where(symbols == 1, plus, self.odds.total - plus) / self.odds.total))

    def _second_moment(self, positions: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.ones_like(positions)
