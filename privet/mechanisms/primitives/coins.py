"""Coins whose chance is the stated one to 128 bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidParameter
from privet.mechanisms.primitives.bits import Bits

__all__ = ["Coins"]

_WORD = 1 << 64
_WHOLE = 1 << 128


@dataclass(frozen=True, eq=False)
class Coins:
    """Coins of several kinds, each with a chance of its own.

    The chances are multiples of 2^-128, rounded down from the stated ones. That is exact for 0, for 1 and for every
    double of at least 2^-75. A second word is drawn only where the first does not decide, once in 2^64 tosses.

    Attributes:
        high: The first 64 bits of each chance.
        low: The next 64 bits.
        certain: The coins that always fall on the right side.

    >>> from privet.mechanisms import SeededBits
    >>> Coins.of([Fraction(0), Fraction(1)]).toss(np.array([0, 0, 1, 1]), SeededBits(0)).tolist()
    [False, False, True, True]
    """

    high: NDArray[np.uint64]
    low: NDArray[np.uint64]
    certain: NDArray[np.bool_]

    @classmethod
    def of(cls, chances: Sequence[Fraction]) -> Coins:
        """Make a coin of each chance.

        Args:
            chances: Numbers from 0 to 1.
        """
        wrong = [chance for chance in chances if not 0 <= chance <= 1]
        if wrong:
            raise InvalidParameter("chances", "numbers from 0 to 1", float(wrong[0]))
        return cls.of_integers([chance.numerator * _WHOLE // chance.denominator for chance in chances])

    @classmethod
    def of_integers(cls, thresholds: Sequence[int]) -> Coins:
        """Make a coin of each chance out of 2^128.

        Args:
            thresholds: Integers from 0 to 2^128.
        """
        certain = np.array([each >= _WHOLE for each in thresholds], dtype=np.bool_)
        high = np.array([each // _WORD % _WORD for each in thresholds], dtype=np.uint64)
        low = np.array([each % _WORD for each in thresholds], dtype=np.uint64)
        return cls(high, low, certain)

    def toss(
        self, kinds: NDArray[np.integer[Any]], bits: Bits, names: NDArray[np.integer[Any]] | None = None
    ) -> NDArray[np.bool_]:
        """Toss one coin of each given kind.

        Args:
            kinds: The positions of the coins' chances.
            bits: The source of randomness.
            names: The thing that each coin is about, for a source that reads names (default: none).
        """
        return self._compare(bits.words(len(kinds)) if names is None else bits.words_for(names), kinds, bits)

    def _compare(self, words: NDArray[np.uint64], kinds: NDArray[np.integer[Any]], bits: Bits) -> NDArray[np.bool_]:
        """Decide by the first 64 bits, and by others where they are equal to the chance's."""
        high = self.high[kinds]
        heads = words < high
        undecided = words == high
        if undecided.any():
            heads[undecided] = bits.words(int(undecided.sum())) < self.low[kinds[undecided]]
        return np.asarray(heads | self.certain[kinds]) if self.certain.any() else heads
