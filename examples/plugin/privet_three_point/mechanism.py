"""Three-point response: a value is rounded to an end or the middle of its range, and that is reported with noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.mechanisms import Bits
from privet.mechanisms.core.base import Distribution
from privet.mechanisms.core.coordinates import CoordinateMechanism
from privet.mechanisms.primitives.bits import WORD_RESOLUTION
from privet.mechanisms.primitives.odds import Odds, odds
from privet.mechanisms.primitives.sampling import randomized_rounding, rounding_thresholds

__all__ = ["ThreePoint"]


@dataclass(frozen=True, kw_only=True)
class ThreePoint(CoordinateMechanism):
    """Report -1, 0 or 1: the randomly rounded value has the weight ``high``, the two others ``low``.

    Formal guarantee: epsilon-LDP of the feature vector. high / low <= e^(epsilon / m), and random rounding only mixes
    inputs.
    """

    name = "three-point"
    words = "a few features are drawn at random, and each is answered with low, middle or high, sometimes wrongly"

    @cached_property
    def odds(self) -> Odds:
        """The integer weights, rounded so that their ratio never exceeds the budget."""
        return odds(self.share, highs=1, lows=2)

    def _prepare(self) -> None:
        _ = self.odds  # a budget beyond finite precision fails now, not on a device

    def _best_sample(self) -> int:
        return 1

    @property
    def slope(self) -> float:
        """E[symbol] = slope (2u - 1)."""
        return (self.odds.high - self.odds.low) / self.odds.total

    @property
    def largest_symbol(self) -> int:
        """The symbols are -1, 0 and 1."""
        return 1

    @property
    def num_symbols(self) -> int:
        """The symbols are -1, 0 and 1."""
        return 3

    def _draw(self, positions: NDArray[np.float64], bits: Bits) -> NDArray[np.int64]:
        point = randomized_rounding(positions, 2, bits)  # 0, 1 or 2, right on average
        draw = bits.below(self.odds.total, positions.shape)  # a uniform integer, no float
        other = np.where(draw < self.odds.high + self.odds.low, 1, 2)
        return np.asarray((point + np.where(draw < self.odds.high, 0, other)) % 3 - 1)

    def _symbol_distribution(self, position: float) -> Distribution:
        """State the same in rational numbers."""
        whole, upper = (int(x) for x in rounding_thresholds(np.float64(position), 2))
        chance = Fraction(upper, WORD_RESOLUTION)
        rounded = {whole: 1 - chance, whole + 1: chance}
        likely = Fraction(self.odds.high - self.odds.low, self.odds.total)
        base = Fraction(self.odds.low, self.odds.total)
        return {symbol: (base + likely * rounded.get(symbol + 1, 0),) * 2 for symbol in (-1, 0, 1)}

    def _log_probability(self, positions: NDArray[np.float64], symbols: NDArray[np.int64]) -> NDArray[np.float64]:
        whole, upper = rounding_thresholds(positions, 2)
        up = upper / WORD_RESOLUTION
        share = (symbols + 1 == whole) * (1 - up) + (symbols + 1 == whole + 1) * up
        return np.asarray(np.log(self.odds.low / self.odds.total + self.slope * share))

    def _second_moment(self, positions: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(2 * self.odds.low / self.odds.total + self.slope * np.abs(2 * positions - 1))
