"""Integer weights of two-sided geometric noise that is cut to the numbers from 0 to a cap."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from privet.errors import InvalidParameter
from privet.mechanisms.primitives.bits import WORD_RESOLUTION
from privet.mechanisms.primitives.odds import exp_enclosure

__all__ = ["MOST_CAP", "GeometricWeights", "geometric_weights"]

MOST_CAP = 1023
"""The largest cap: (cap + 1) 2^53 fits the 64-bit integers that a table is searched with."""

_LEAST_EPSILON, _MOST_EPSILON = 2.0**-20, 29.0
_GROWTH = 1 << 10  # the smallest weight grows by at least this much in one step, so that steps are near exp(epsilon)


@dataclass(frozen=True, slots=True)
class GeometricWeights:
    """The weight of a report v for a number t, out of the same total for every t.

    It is ``inner[|v - t|]`` for 0 < v < cap, and ``ends[|v - t|]`` for v = 0 and v = cap, which hold the tails. Since
    ``ends[k] - ends[k + 1] = inner[k]``, all numbers have the same total, ends[0] + ends[1].

    Attributes:
        inner: The weights at distances 0 to cap - 1.
        ends: The weights at distances 0 to cap.
    """

    inner: tuple[int, ...]
    ends: tuple[int, ...]

    @property
    def total(self) -> int:
        """The sum of a number's weights, at most 2^53."""
        return self.ends[0] + self.ends[1]

    def row(self, number: int) -> list[int]:
        """Return the weights of the reports 0 to cap for one number."""
        cap = len(self.inner)
        between = [self.inner[abs(report - number)] for report in range(1, cap)]
        return [self.ends[number], *between, self.ends[cap - number]]


@lru_cache(maxsize=64)
def geometric_weights(epsilon: Fraction, cap: int) -> GeometricWeights:
    """Return the tightest weights for which numbers that differ by one have likelihood ratios of at most e^epsilon.

    From the farthest distance inwards each inner weight is floor(e^epsilon w) of the one before, w. The tail of an end
    begins with w + ceil(w / (e^epsilon - 1)), the sum of a geometric series; then inner[k] <= (e^epsilon - 1)
    ends[k + 1] follows for every k by induction, which is ends[k] <= e^epsilon ends[k + 1]. Where e^(epsilon cap) does
    not fit 2^53 the farthest weights are equal and as small as their growth allows.

    Args:
        epsilon: The bound on the log likelihood ratio, from 2^-20 to 29.
        cap: The largest number, from 1 to 1023.
    """
    if not _LEAST_EPSILON <= epsilon <= _MOST_EPSILON:
        expected = f"from {_LEAST_EPSILON:.2g} to {_MOST_EPSILON:g} (finite precision)"
        raise InvalidParameter("epsilon", expected, float(epsilon))
    factor = exp_enclosure(epsilon)[0]  # rounded down: what keeps to it keeps to exp(epsilon)
    above, below = factor.numerator, factor.denominator

    def over_growth(weight: int) -> int:
        """Return ceil(weight / (exp(epsilon) - 1))."""
        return -(-weight * below // (above - below))

    def made(flat: int, start: int) -> GeometricWeights:
        """Hold the ``flat`` farthest weights at the least and let the others grow from ``start`` on."""
        chain = [least] * flat + [start]
        while len(chain) <= cap:
            chain.append(chain[-1] * above // below)
        tail = chain[0] + over_growth(chain[0])  # the weight at distance cap is part of the tail
        ends = list(itertools.accumulate(chain[1:], initial=tail))
        return GeometricWeights(tuple(chain[:0:-1]), tuple(ends[::-1]))

    least = max(1, over_growth(_GROWTH))
    flat = bisect_left(range(cap), True, key=lambda count: made(count, least).total <= WORD_RESOLUTION)
    starts = range(least, WORD_RESOLUTION)
    start = starts[bisect_left(starts, True, key=lambda start: made(flat, start).total > WORD_RESOLUTION) - 1]
    return made(flat, start)
