"""Rare ones among many independent bits, drawn exactly at a cost of O(ones)."""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

from privet.mechanisms.primitives.bits import WORD_RESOLUTION, Bits

__all__ = ["bernoulli_positions"]


def bernoulli_positions(length: int, low: int, total: int, bits: Bits) -> NDArray[np.int64]:
    """The places of the ones in ``length`` independent bits that are 1 with probability low / total, ascending.

    Only the gaps between ones are drawn: Pr[gap >= k] = (1 - low / total)^k. The result has exactly the distribution
    of bit-by-bit draws (see ``_gaps``) at a cost of O(ones).
    """
    chance = low / total
    pieces: list[NDArray[np.int64]] = []
    reached = -1
    while reached < length:
        expected = (length - reached) * chance
        gaps = _gaps(int(expected + 5 * math.sqrt(expected)) + 16, low, total, bits)
        pieces.append(reached + np.cumsum(gaps + 1))
        reached = int(pieces[-1][-1])
    positions = np.concatenate(pieces)
    return positions[: np.searchsorted(positions, length)]


def _gaps(count: int, low: int, total: int, bits: Bits) -> NDArray[np.int64]:
    """Geometric gaps by inversion, exact: floor(log U / log(1 - q)) for a uniform real U of which 53 bits are drawn.

    Where those bits and the floating-point error (bounded by 1e-13 relative) leave two answers possible, more bits
    of U are drawn and the logarithms are taken with more digits, until one is left.
    """
    draws = bits.below(WORD_RESOLUTION, (count,))
    rate = -math.log1p(-low / total)
    with np.errstate(divide="ignore"):
        longest = -np.log(draws / WORD_RESOLUTION) / rate
    shortest = -np.log((draws + 1) / WORD_RESOLUTION) / rate
    upper = np.floor(np.minimum(longest * (1 + 1e-13) + 1e-13, 2.0**62)).astype(np.int64)
    lower = np.floor(np.maximum(shortest * (1 - 1e-13) - 1e-13, 0.0)).astype(np.int64)
    for i in np.nonzero(upper != lower)[0]:
        lower[i] = _refined_gap(int(draws[i]), low, total, bits)
    return lower


def _refined_gap(numerator: int, low: int, total: int, bits: Bits) -> int:
    denominator = WORD_RESOLUTION
    while True:
        numerator = numerator * WORD_RESOLUTION + int(bits.below(WORD_RESOLUTION, (1,))[0])
        denominator *= WORD_RESOLUTION
        with localcontext() as context:
            context.prec = 40 + 2 * len(str(denominator))
            context.rounding = ROUND_FLOOR
            rate = -(1 - Decimal(low) / Decimal(total)).ln()
            slack = Decimal(10) ** (10 - context.prec + len(str(total)))
            longest = -(Decimal(numerator) / denominator).ln() / rate if numerator else Decimal("Infinity")
            shortest = -(Decimal(numerator + 1) / denominator).ln() / rate
            upper, lower = longest * (1 + slack) + slack, max(shortest * (1 - slack) - slack, Decimal(0))
            if upper.is_finite() and int(upper) == int(lower):
                return int(lower)
