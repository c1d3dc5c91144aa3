"""Gaussian noise on the integers, drawn by integer arithmetic up to a stated distance.

The rounded Gaussian K = round(scale Z), Z ~ N(0, 1), is what the Gaussian mechanism becomes on an integer grid: for an
integer k, round(k + scale Z) = k + round(scale Z), so releasing k + K is post-processing of the real mechanism.

A draw chooses a cell of 2^m integers by an alias table, an integer in it by m bits, and accepts with probability
exp(-(t^2 - t0^2) / (2 scale^2)), where t0 is the cell's integer nearest to 0. Most coins fall below the smallest such
probability of their cell, and accept before it is computed. The result has the distribution proportional to
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
from decimal import Decimal, localcontext
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidParameter
from privet.mechanisms.primitives.bits import Bits
from privet.mechanisms.primitives.coins import Coins

__all__ = ["LEAST_SCALE", "RoundedGaussian"]

LEAST_SCALE = 2.0**30

_LARGEST_SCALE = 2.0**56  # 64 scales are below 2^62, so that 64-bit integers hold every sum in the program
_CELLS = 4096  # of at least 1/64 of the scale each, so that they reach 32 scales far
_DIGITS = 60
_AT_ONCE = 1 << 15  # draws whose arrays stay in a processor's cache


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
        found, refused = np.empty(count, dtype=np.int64), [np.empty(0, dtype=np.int64)]
        for start in range(0, count, _AT_ONCE):
            part = found[start : start + _AT_ONCE]
            part[:], accepted = self._propose(len(part), bits)
            refused.append(start + np.flatnonzero(~accepted))
        again = np.concatenate(refused)
        if len(again):
            found[again] = self.draw(len(again), bits)
        return found

    def _propose(self, count: int, bits: Bits) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Draw one integer of the envelope each, and tell which are accepted."""
        table = self._table
        places, coins = bits.words(2 * count).reshape(2, count)
        cells = (places >> np.uint64(52)).view(np.int64)  # 12 bits choose a column of the table, ...
        kept = table.columns.toss(cells, bits, begun=(coins >> np.uint64(32)).astype(np.uint32))
        np.copyto(cells, table.aliases[cells], where=~kept)
        inside = (places & np.uint64((1 << self.width_bits) - 1)).view(np.int64)  # ... and others a place in the cell
        accepted = coins.astype(np.uint32) < table.surely[cells]
        unsure = np.flatnonzero(~accepted)
        accepted[unsure] = self._decide(table.nearest[cells[unsure]], inside[unsure], coins[unsure], bits)
        return table.starts[cells] ^ inside, accepted

    def _decide(
        self, nearest: NDArray[np.int64], inside: NDArray[np.int64], coins: NDArray[np.uint64], bits: Bits
    ) -> NDArray[np.bool_]:
        """Compare coins of 53 bits, of which the last 32 of each word are the first, with the chance to accept."""
        away = inside.astype(np.float64) * (2 * nearest + inside).astype(np.float64)  # t^2 - t0^2
        chance = np.exp(away * (-0.5 / self.scale**2))
        begun = (coins & np.uint64(2**32 - 1)) << np.uint64(21)
        coin = (begun | (bits.words(len(coins)) >> np.uint64(43))).astype(np.float64) * 2.0**-53
        return np.asarray(coin < chance)

    @cached_property
    def _table(self) -> _Table:
        return _table_of(self.scale, self.width_bits)


class _Table(NamedTuple):
    """The cells: an alias table, and for each cell its |t0|, its t0 (one more on the negative side) and a bound.

    An integer of a cell is ``starts`` with ``inside`` in its low bits, which are those of -1 on the negative side.
    A coin whose first 32 bits are less than ``surely`` accepts everywhere in the cell.
    """

    columns: Coins
    aliases: NDArray[np.int64]
    nearest: NDArray[np.int64]
    starts: NDArray[np.int64]
    surely: NDArray[np.uint32]


@lru_cache(maxsize=64)  # every step of a training asks for the same one
def _table_of(scale: float, width_bits: int) -> _Table:
    cells = np.arange(_CELLS, dtype=np.int64) - _CELLS // 2
    away = np.where(cells < 0, -1 - cells, cells) << width_bits
    nearest, last = away + (cells < 0), float((1 << width_bits) - 1)
    least = np.exp(last * (2.0 * nearest + last) * (-0.5 / scale**2)) * (1 - 2.0**-20)  # less, whatever was rounded
    surely = np.floor(least * 2.0**32).astype(np.uint32)
    return _Table(*_alias_table(cell_weights(scale, width_bits)), nearest, np.where(cells < 0, ~away, away), surely)


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


def _alias_table(weights: list[int]) -> tuple[Coins, NDArray[np.int64]]:
    """Return Vose's alias table of integer weights that sum to their number times 2^128, without any rounding."""
    capacity = 1 << 128
    left, aliases = list(weights), list(range(len(weights)))
    small = [cell for cell, weight in enumerate(left) if weight < capacity]
    large = [cell for cell, weight in enumerate(left) if weight >= capacity]
    while small and large:
        less, more = small.pop(), large[-1]
        aliases[less] = more
        left[more] -= capacity - left[less]
        if left[more] < capacity:
            small.append(large.pop())
    return Coins.of_integers(left), np.array(aliases, dtype=np.int64)
