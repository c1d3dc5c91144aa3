from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from privet.mechanisms import SeededBits
from privet.mechanisms.primitives.bits import Bits
from privet.mechanisms.primitives.sparse_bits import _gaps, _refined_gap, bernoulli_positions


@pytest.mark.parametrize(("low", "total"), [(1, 4), (1, 2), (9, 10), (1, 100)])
def test_bits_are_independent_with_the_stated_chance(low: int, total: int) -> None:
    """Chi-square of the number of ones in windows of 8; another seed would fail with a chance of 1e-6."""
    length = 80_000
    positions = bernoulli_positions(length, low, total, SeededBits(0))
    assert (np.diff(positions) > 0).all()
    assert positions.min() >= 0
    assert positions.max() < length
    per_window = np.bincount(np.bincount(positions // 8, minlength=length // 8), minlength=9)
    expected = stats.binom.pmf(np.arange(9), 8, low / total) * length / 8
    rare = expected < 5
    observed = np.append(per_window[~rare], per_window[rare].sum())
    wanted = np.append(expected[~rare], expected[rare].sum())
    keep = wanted > 0
    assert stats.chisquare(observed[keep], wanted[keep] * observed.sum() / wanted[keep].sum()).pvalue > 1e-6


def test_no_length_gives_no_ones() -> None:
    assert bernoulli_positions(0, 1, 2, SeededBits(0)).size == 0


class Stream(Bits):
    """The binary expansion of one real number in [0, 1), 53 bits at a time."""

    def __init__(self, number: Fraction) -> None:
        self.rest = number

    def words(self, count: int) -> np.ndarray:
        raise AssertionError("only below() is scripted")

    def below(self, bound, shape) -> np.ndarray:
        assert bound == 1 << 53
        digits = []
        for _ in range(math.prod(shape)):
            self.rest *= 1 << 53
            digits.append(int(self.rest))
            self.rest -= digits[-1]
        return np.array(digits, dtype=np.int64).reshape(shape)


@pytest.mark.parametrize("k", [1, 2, 3, 40])
@pytest.mark.parametrize("side", [-1, 1])
def test_a_number_next_to_a_boundary_is_resolved_exactly(k: int, side: int) -> None:
    """U = (1 - q)^k -+ 2^-150 lies on either side of the step between gap k and k - 1: 53 bits cannot tell."""
    low, total = 1, 10
    boundary = Fraction(total - low, total) ** k
    number = boundary + side * Fraction(1, 1 << 150)
    assert _gaps(1, low, total, Stream(number)).tolist() == [k - 1 if side > 0 else k]


def test_the_smallest_draw_is_resolved() -> None:
    number = Fraction(1, 1 << 60) + Fraction(1, 1 << 70)  # behind 53 zero bits: U = number / 2^53
    assert _refined_gap(0, 1, 2, Stream(number)) == 112
