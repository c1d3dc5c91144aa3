"""Integer weights whose ratio is at most exp(epsilon): the one place where privacy meets arithmetic.

A real-valued mechanism run in floating point keeps no promise: outputs possible under one input can be impossible
under another. Every symbol that leaves a device is therefore drawn with integer weights, and the weights' ratio is
bounded by rational arithmetic on an enclosure of exp(epsilon), rounded so that the bound can only get safer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from privet.errors import InvalidParameter
from privet.mechanisms.primitives.bits import WORD_RESOLUTION

__all__ = ["Odds", "exp_enclosure", "odds"]

_CONTEXT = Context(prec=60, rounding=ROUND_FLOOR, Emin=-999999, Emax=999999)
_SMALLEST_WEIGHT = 1 << 10  # below this the integers would be too coarse to be near exp(epsilon)


@lru_cache(maxsize=1 << 17)
def exp_enclosure(exponent: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals a <= exp(exponent) <= b that agree in more than 50 digits."""
    below = _CONTEXT.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    above = below if Fraction(below) == exponent else below.next_plus(_CONTEXT)
    # Decimal.exp is correctly rounded (half-even), so one unit in the last place covers it in either direction.
    return Fraction(below.exp(_CONTEXT).next_minus(_CONTEXT)), Fraction(above.exp(_CONTEXT).next_plus(_CONTEXT))


@dataclass(frozen=True, slots=True)
class Odds:
    """Symbols of weight ``high`` (the likely ones) and ``low``, out of ``total``; high / low <= exp(epsilon)."""

    high: int
    low: int
    total: int


def odds(epsilon: Fraction, *, highs: int = 1, lows: int = 1) -> Odds:
    """The tightest weights below 2^53 for ``highs`` likely and ``lows`` unlikely symbols.

    high = floor(low * exp(epsilon)) and highs * high + lows * low = total <= 2^53.
    """
    least = 1.1 * _SMALLEST_WEIGHT * (highs + lows) / WORD_RESOLUTION
    most = math.log((WORD_RESOLUTION / _SMALLEST_WEIGHT - lows) / highs)
    if not least <= epsilon <= most:
        expected = f"such that the share of one symbol lies between {least:.2g} and {most:.3g} (finite precision)"
        raise InvalidParameter("epsilon", expected, f"a share of {float(epsilon):.6g}")
    lower, upper = exp_enclosure(epsilon)
    low = int(WORD_RESOLUTION / (highs * upper + lows))
    high = int(low * lower)
    return Odds(high, low, highs * high + lows * low)
