"""Coins of exact chances, against fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thorough import thorough

from privet.errors import InvalidParameter
from privet.mechanisms import Bits, SeededBits
from privet.mechanisms.primitives.coins import Coins


class Words(Bits):
    """Words that were fixed before."""

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def words(self, count: int) -> np.ndarray:
        drawn, self.left = self.left[:count], self.left[count:]
        assert len(drawn) == count
        return np.array(drawn, dtype=np.uint64)


@thorough
@given(st.fractions(0, 1, max_denominator=10**9), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_a_coin_compares_128_bits(p: Fraction, first: int, second: int) -> None:
    coins, bits = Coins.of([p]), Words(first, second)
    fell = bool(coins.toss(np.zeros(1, dtype=np.int64), bits)[0])
    assert fell == (p == 1 or (first << 64) + second < p * 2**128 - Fraction(p * 2**128) % 1)
    undecided = first == (int(p * 2**128) >> 64) % 2**64
    assert len(bits.left) == (0 if undecided else 1)  # the second word is drawn only if the first decides nothing


def test_a_tie_is_decided_by_the_next_word() -> None:
    coins = Coins.of([Fraction(1, 3)])
    high, low = int(2**128 / Fraction(3)) >> 64, int(2**128 / Fraction(3)) & (2**64 - 1)
    for second, expected in ((low - 1, True), (low, False)):
        assert coins.toss(np.zeros(1, dtype=np.int64), Words(high, second))[0] == expected


def test_frequencies_of_several_kinds() -> None:
    """A false alarm has a chance of less than 1e-8: six standard deviations each."""
    chances = [Fraction(1, 7), Fraction(0.3), Fraction(0), Fraction(1)]
    kinds = np.repeat(np.arange(4), 100_000)
    fell = Coins.of(chances).toss(kinds, SeededBits(0)).reshape(4, -1).mean(axis=1)
    for share, chance in zip(fell, map(float, chances), strict=True):
        assert abs(share - chance) <= 6 * (chance * (1 - chance) / 100_000) ** 0.5


def test_chances_outside_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="numbers from 0 to 1"):
        Coins.of([Fraction(3, 2)])
