"""Gaussian noise on the integers, drawn by integer arithmetic up to a stated distance.

The rounded Gaussian K = round(scale Z), Z ~ N(0, 1), is what the Gaussian mechanism becomes on an integer grid: for an
integer k, round(k + scale Z) = k + round(scale Z), so releasing k + K is post-processing of the real mechanism.

A draw chooses a cell of 2^m integers, an integer in it by m bits, and accepts with probability
exp(-(t^2 - t0^2) / (2 scale^2)), where t0 is the cell's integer nearest to 0. One word of 64 bits does nearly all of
it. A cell is where a uniform number of 140 bits falls among the sums of the cells' weights: its first 16 bits tell in
all but one of a hundred cases, and others are drawn only there. Most coins fall below the smallest chance to accept of
their cell, and accept before it is computed. The result has the distribution proportional to
exp(-t^2 / (2 scale^2)) on the integers. It differs from the rounded Gaussian by three errors, for which
:mod:`privet.privacy.accounting.program` charges:

- RATIO, a factor for every integer within 32 scales. It pays for the rounding of the acceptance probability, a double
  that is computed from a number of at most 1 with five roundings, for the coin of 53 bits (together below 2^-49), and
  for the difference between a density and its integral over a unit interval (below 2^-54: ``scale`` is at least 2^30).
- EXTRA, for the table, whose chances are multiples of 2^-140 and rounded up.
- TAIL, for what lies beyond 32 scales.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from decimal import Decimal, localcontext
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidParameter
from privet.mechanisms.primitives.bits import Bits

__all__ = ["LEAST_SCALE", "RoundedGaussian"]

LEAST_SCALE = 2.0**30

_LARGEST_SCALE = 2.0**56  # 64 scales are below 2^62, so that 64-bit integers hold every sum in the program
_CELLS = 4096  # of at least 1/64 of the scale each, so that they reach 32 scales far
_FIRSTS = 1 << 16
_DIGITS = 60
_AT_ONCE = 1 << 16  # draws whose arrays stay in a cache, at little cost for each array


class RoundedGaussian:
    """A source of integers round(scale Z), Z ~ N(0, 1), up to the errors above.

    Args:
        scale: The standard deviation, from 2^30 to 2^56.

    >>> from privet.mechanisms import SeededBits
    >>> abs(RoundedGaussian(2.0**40).draw(1, SeededBits(0))) < 2**45
    array([ True])
    """

    def __init__(self, scale: float) -> None:
        if not LEAST_SCALE <= scale <= _LARGEST_SCALE:
            raise InvalidParameter("scale", "a number from 2^30 to 2^56", scale)
        self.scale = float(scale)
        self.width_bits = math.frexp(scale)[1] - 6  # a cell has between 1/64 and 1/32 of the scale

    def draw(self, count: int, bits: Bits) -> NDArray[np.int64]:
        """Draw independent integers.

        Args:
            count: Their number.
            bits: The source of randomness.
        """
        found = np.empty(count, dtype=np.int64)
        proposed = [self._propose(found[start : start + _AT_ONCE], bits) for start in range(0, count, _AT_ONCE)]
        if not proposed:
            return found
        places = np.concatenate([_AT_ONCE * number + each.places for number, each in enumerate(proposed)])
        first, coins, inside = (np.concatenate(parts) for parts in list(zip(*proposed, strict=True))[1:])
        cells = self._table.cells_of(first, bits)
        found[places] = cells << np.int64(self.width_bits) | inside
        again = places[~self._decide(cells, inside, coins, bits)]
        if len(again):
            found[again] = self.draw(len(again), bits)
        return found

    def _propose(self, found: NDArray[np.int64], bits: Bits) -> _Unsure:
        """Fill an array with integers of the envelope, and return those that are not accepted yet."""
        words = bits.words(len(found)).view(np.int64)
        lasts = words if self._one_word else bits.words(len(found)).view(np.int64)
        first = words >> np.int64(48)  # 16 bits for a cell, ...
        first &= np.int64(_FIRSTS - 1)
        coins = (words >> np.int64(32)).astype(np.uint16)  # ... and 16 that begin with a coin
        known = self._table.known.take(first)
        places = np.flatnonzero(coins >= known.astype(np.uint16))
        mask = np.int64((1 << self.width_bits) - 1)
        begun = coins[places].astype(np.int32) >> np.int32(16 - self._coin_bits)
        unsure = _Unsure(places, first[places], begun, lasts[places] & mask)
        lasts &= mask
        np.right_shift(known, np.int32(16), out=first)
        first <<= np.int64(self.width_bits)
        np.bitwise_or(lasts, first, out=found)
        return unsure

    def _decide(
        self, cells: NDArray[np.int64], inside: NDArray[np.int64], coins: NDArray[np.int32], bits: Bits
    ) -> NDArray[np.bool_]:
        """Compare coins of 53 bits, the first of which are known, with the chance to accept."""
        nearest, beyond = self._from_zero(cells, inside)
        away = beyond.astype(np.float64) * (2 * nearest + beyond).astype(np.float64)  # t^2 - t0^2
        chance = np.exp(away * (-0.5 / self.scale**2))
        more = 53 - self._coin_bits
        begun = coins.astype(np.uint64) << np.uint64(more)
        coin = (begun | (bits.words(len(coins)) >> np.uint64(64 - more))).astype(np.float64) * 2.0**-53
        return np.asarray(coin < chance)

    def _from_zero(
        self, cells: NDArray[np.int64], inside: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return |t0| of each cell, and how much further from 0 an integer with these low bits is."""
        negative = cells < 0
        nearest = (np.where(negative, -1 - cells, cells) << np.int64(self.width_bits)) + negative
        return nearest, np.where(negative, (1 << self.width_bits) - 1 - inside, inside)

    @property
    def _one_word(self) -> bool:
        """True if a word has room for a cell's first bits, at least 8 of a coin, and a place in the cell."""
        return self.width_bits <= 40

    @property
    def _coin_bits(self) -> int:
        """The number of bits of a coin that are drawn at once."""
        return min(16, 48 - self.width_bits) if self._one_word else 16

    @cached_property
    def _table(self) -> _Table:
        return _table_of(self.scale, self.width_bits, self._coin_bits)


class _Unsure(NamedTuple):
    """Integers that wait to be accepted: their places, first 16 bits for a cell, first bits of a coin, and low bits."""

    places: NDArray[np.int64]
    first: NDArray[np.int64]
    coins: NDArray[np.int32]
    inside: NDArray[np.int64]


class _Table(NamedTuple):
    """The cells, which are numbered from -2048 to 2047: cell c has the integers from c 2^m to (c + 1) 2^m - 1.

    Attributes:
        known: For each 16 bits that a number may begin with, its cell and, in the last 16 bits, below which the 16 bits
            that begin with a coin accept everywhere in the cell: 0 where the cell is not known yet.
        ends: The sum of the weights of each cell and all before it.
        begins: The first 64 bits of the sum of the weights before each cell.
    """

    known: NDArray[np.int32]
    ends: list[int]
    begins: NDArray[np.uint64]

    def cells_of(self, first: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        """Find the cells of numbers of 140 bits, of which the first 16 are drawn.

        Args:
            first: The first 16 bits of each.
            bits: The source of the others.
        """
        rest = bits.words(len(first)) >> np.uint64(16)
        known = self.known[first]
        cells = (known >> np.int32(16)).astype(np.int64)
        several = np.flatnonzero((known & np.int32(0xFFFF)) == 0)
        numbers = first[several].astype(np.uint64) << np.uint64(48) | rest[several]
        found = np.searchsorted(self.begins, numbers, side="right") - 1
        for place in np.flatnonzero(self.begins[found] == numbers):  # the first 64 bits do not tell either
            high, low = bits.words(2).tolist()
            whole = int(numbers[place]) << 76 | high >> 52 << 64 | low
            found[place] = bisect_right(self.ends, whole)
        cells[several] = found - _CELLS // 2
        return cells


@lru_cache(maxsize=16)  # every step of a training asks for the same one
def _table_of(scale: float, width_bits: int, coin_bits: int) -> _Table:
    ends = list(accumulate(cell_weights(scale, width_bits)))
    begins = np.array([end >> 76 for end in (0, *ends[:-1])], dtype=np.uint64)
    cells = np.searchsorted(begins, np.arange(_FIRSTS, dtype=np.uint64) << np.uint64(48), side="right") - 1
    nearest, last = np.abs(cells - _CELLS // 2).astype(np.float64) * 2.0**width_bits, 2.0**width_bits
    least = np.exp(last * (2.0 * nearest + last) * (-0.5 / scale**2)) * (1 - 2.0**-20)  # less, whatever was rounded
    surely = np.floor(least * 2.0**coin_bits).astype(np.int64)
    surely[np.unique(begins >> np.uint64(48)).astype(np.int64)] = 0  # two cells or more meet there
    return _Table(((cells - _CELLS // 2) << 16 | surely << 16 - coin_bits).astype(np.int32), ends, begins)


def cell_weights(scale: float, width_bits: int) -> list[int]:
    """Return the weight of each cell's envelope, exp(-t0^2 / (2 scale^2)), in integers that sum to 4096 x 2^128."""
    with localcontext() as context:
        context.prec = _DIGITS
        twice = 2 * Decimal(scale) ** 2
        half = [-(Decimal(cell << width_bits) ** 2) / twice for cell in range(_CELLS // 2)]
        # A negative cell ends at -1: its integers are -t0 - inside with t0 = 1, 1 + 2^m, ...
        other = [-(Decimal((cell << width_bits) + 1) ** 2) / twice for cell in range(_CELLS // 2)]
        weights = [value.exp() for value in (*reversed(other), *half)]
        total, whole = sum(weights), _CELLS << 128
        integers = [math.ceil(weight * whole / total) for weight in weights]
    integers[_CELLS // 2] -= sum(integers) - whole  # the heaviest cell, which does not feel it
    return integers
