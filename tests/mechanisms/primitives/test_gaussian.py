"""The rounded Gaussian: its table exactly, its distribution statistically (false alarms below 1e-6 each)."""

import functools
import math
from decimal import Decimal, getcontext
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from thorough import thorough

from privet.errors import InvalidParameter
from privet.mechanisms import SeededBits, SystemBits
from privet.mechanisms.primitives.gaussian import RoundedGaussian, cell_weights
from privet.privacy.accounting.program import EXTRA, RATIO, TAIL

ALARM = 1e-6


class Words(SeededBits):
    """Given words."""

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def words(self, count: int) -> np.ndarray:
        given, self.left = self.left[:count], self.left[count:]
        return np.array(given, dtype=np.uint64)


@functools.cache
def cells() -> tuple[RoundedGaussian, list[int]]:
    """Return a source and the ends of its cells, made once for all examples."""
    source = RoundedGaussian(2.0**38 * 3.7)
    return source, list(accumulate(cell_weights(source.scale, source.width_bits)))


@thorough
@given(st.integers(0, 4095), st.integers(-3, 3), st.integers(0, 2**140 - 1), st.booleans())
def test_a_number_of_140_bits_falls_into_exactly_its_cell(cell: int, beside: int, number: int, at_edge: bool) -> None:
    """Also where its first 16 or 64 bits are those of an edge between cells."""
    source, ends = cells()
    number = min(max(ends[cell] + beside, 0), 2**140 - 1) if at_edge else number
    rest = number & (2**76 - 1)
    bits = Words(((number >> 76) & (2**48 - 1)) << 16, rest >> 64 << 52, rest & (2**64 - 1))
    found = int(source._table.cells_of(np.array([number >> 124]), bits)[0]) + 2048
    assert (ends[found - 1] if found else 0) <= number < ends[found]


@pytest.mark.parametrize("scale", [2.0**30, 2.0**38 * 3.7, 2.0**56])
def test_sixteen_bits_tell_a_cell_only_where_no_other_begins(scale: float) -> None:
    source = RoundedGaussian(scale)
    ends = list(accumulate(cell_weights(scale, source.width_bits)))
    for first, known in enumerate(source._table.known.tolist()):
        if known & 0xFFFF:
            cell = (known >> 16) + 2048
            assert (ends[cell - 1] if cell else 0) <= first << 124 < (first + 1) << 124 <= ends[cell]
    assert (source._table.known & 0xFFFF != 0).mean() > 0.98


@settings(max_examples=5)
@given(st.floats(2.0**30, 2.0**56))
def test_cells_weigh_what_their_nearest_integer_does(scale: float) -> None:
    getcontext().prec = 60
    source = RoundedGaussian(scale)
    weights, half = cell_weights(scale, source.width_bits), 2048
    for cell in (0, 1, 77, 500):
        first = cell << source.width_bits
        for start, place in ((first, half + cell), (first + 1, half - 1 - cell)):
            expected = (-(Decimal(start) ** 2) / (2 * Decimal(scale) ** 2)).exp()
            relative = Decimal(weights[place]) / Decimal(weights[half]) / expected
            assert abs(relative - 1) < Decimal(2) ** -90 / expected
    assert (half << source.width_bits) >= 32 * scale
    assert math.log(2) + stats.norm.logsf(32) < math.log(TAIL)
    assert min(weights) >= 1  # rounded up
    assert EXTRA >= 4096 * 2.0**-140


def test_every_proposal_is_accepted_with_its_exact_chance_up_to_the_ratio() -> None:
    """The acceptance probability that the program computes, against 60 digits, for places all over the cells."""
    getcontext().prec = 60
    source, rng = RoundedGaussian(2.0**38 * 3.7), np.random.default_rng(0)
    inside = rng.integers(0, 1 << source.width_bits, 300)
    nearest = rng.integers(0, int(32 * source.scale), 300) >> source.width_bits << source.width_bits
    away = inside.astype(np.float64) * (2 * nearest + inside).astype(np.float64)
    chance = np.exp(away * (-0.5 / source.scale**2))
    for r, t0, p in zip(inside.tolist(), nearest.tolist(), chance.tolist(), strict=True):
        exact = (-Decimal(r * (2 * t0 + r)) / (2 * Decimal(source.scale) ** 2)).exp()
        rounded = Decimal(math.ceil(p * 2.0**53)) / Decimal(2) ** 53  # the coin has 53 bits
        assert abs((rounded / exact).ln()) <= Decimal(RATIO) / 2


@pytest.mark.parametrize("scale", [2.0**30, 2.0**38 * 3.7, 2.0**56])
def test_coins_that_accept_at_once_are_below_every_chance_of_their_cell(scale: float) -> None:
    source = RoundedGaussian(scale)
    known = source._table.known[source._table.known & 0xFFFF != 0]
    cells, surely = (known >> 16).astype(np.int64), (known & 0xFFFF) * 2.0**-16
    assert not (known & 0xFFFF & (1 << 16 - source._coin_bits) - 1).any()  # bits behind a coin's decide nothing
    for inside in (0, (1 << source.width_bits) // 2, (1 << source.width_bits) - 1):
        nearest, beyond = source._from_zero(cells, np.full(len(cells), inside))
        sizes = [abs((int(cell) << source.width_bits) + inside) for cell in cells]
        assert [int(a) + int(b) for a, b in zip(nearest, beyond, strict=True)] == sizes
        chance = np.exp([-(a * a - int(b) ** 2) / (2 * scale**2) for a, b in zip(sizes, nearest, strict=True)])
        assert (surely <= chance).all()
    assert surely.mean() > 0.9  # nearly all of them do


@pytest.mark.parametrize("scale", [2.0**30, 2.0**38 * 3.7, 2.0**56])
def test_a_coin_at_the_bound_waits_and_one_below_is_accepted(scale: float) -> None:
    source = RoundedGaussian(scale)
    firsts = np.arange(5, 1 << 16, 997)
    bounds = (source._table.known[firsts] & 0xFFFF) >> 16 - source._coin_bits
    coins = np.concatenate([bounds, np.maximum(bounds, 1) - 1])
    words = np.tile(firsts, 2) << source._coin_bits | coins
    rest = (1 << 48 - source._coin_bits) - 1  # the highest bits behind a coin change nothing
    bits = Words(*((int(word) << 48 - source._coin_bits | rest) % 2**64 for word in words), *[0] * len(words))
    unsure = source._propose(np.empty(len(words), dtype=np.int64), bits).places.tolist()
    assert unsure == [*range(len(firsts)), *(len(firsts) + np.flatnonzero(bounds == 0)).tolist()]


@pytest.mark.parametrize("scale", [2.0**30, 2.0**38 * 3.7, 2.0**56])
def test_draws_are_gaussian(scale: float) -> None:
    drawn = RoundedGaussian(scale).draw(200_000, SeededBits(1)) / scale
    assert stats.kstest(drawn, "norm").pvalue > ALARM
    assert abs((drawn**4).mean() - 3) < 6 * math.sqrt(96 / 200_000)
    assert stats.kstest(drawn[1:] - drawn[:-1], "norm", args=(0, math.sqrt(2))).statistic < 0.02


def test_low_bits_are_uniform() -> None:
    drawn = RoundedGaussian(2.0**40).draw(160_000, SeededBits(2))
    for shift in (0, 20, 32):  # of 2^34 integers in a cell
        counts = np.bincount((drawn >> shift) & 15, minlength=16)
        assert stats.chisquare(counts).pvalue > ALARM


def test_a_seed_repeats_and_the_operating_system_does_not() -> None:
    source = RoundedGaussian(2.0**40)
    assert np.array_equal(source.draw(9, SeededBits(3)), source.draw(9, SeededBits(3)))
    assert not np.array_equal(source.draw(9, SystemBits()), source.draw(9, SystemBits()))
    assert len(source.draw(0, SystemBits())) == 0


@pytest.mark.parametrize("scale", [2.0**29, 2.0**57, math.nan])
def test_scales_outside_are_refused(scale: float) -> None:
    with pytest.raises(InvalidParameter, match=r"from 2\^30 to 2\^56"):
        RoundedGaussian(scale)
