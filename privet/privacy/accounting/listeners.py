"""The law of how many central listeners may pick a node, for one out-degree and for whole brackets of them.

A node of out-degree D has C ~ Bi(D, q) central listeners, each of which picks it with probability M / D. That is the
same as being *kept* with probability s / D and then picking with probability M / s, for any scale s between M and D.
Revealing how many were kept can only be worse, so Bi(D, q s / D) listeners that pick with probability M / s stand for
degree D, and any law that lies above Bi(D, q s / D) for every D of a bracket stands for the bracket.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from privet.privacy.accounting.losses import Array

__all__ = ["Listeners", "listeners"]

_MOST_KEPT = 800.0  # expected listeners that are kept at most: revealing so many costs epsilon about 1 / 800
_FEWEST_PICKS = 10.0  # and the least scale over M
_ALONE = 64  # degrees of a bracket that are computed one by one
_FINENESS = 256  # the others, in parts that differ by this fraction in s / D
# counts that are told apart, in standard deviations from their mean; between them a count is rounded up
_PLACES = np.concatenate([np.arange(-8.0, -3.0, 1.0), np.arange(-3.0, 4.5, 1 / 8), np.arange(4.5, 12.0, 0.5)])


@dataclass(frozen=True, eq=False)
class Listeners:
    """A law of the number of listeners that may pick a node.

    Attributes:
        counts: The numbers of listeners.
        chances: Their probabilities.
        lost: The probability of more listeners than the largest count.
        pick: The probability with which each of them picks the node: M / s, or 1 for degrees up to M.
    """

    counts: Array
    chances: Array
    lost: float
    pick: float


@lru_cache(maxsize=1024)
def listeners(q: float, M: float, low: int, high: int, truncated: float) -> Listeners:
    """Return a law that stands for every out-degree in [low, high].

    Args:
        q: The probability of a listener to be central.
        M: The number of sub-graphs that pick a node in expectation.
        low: The least degree.
        high: The largest degree. If some are at most M, and so picked with certainty, it stands for all of them.
        truncated: About the probability that may be lost.
    """
    from scipy.stats import poisson

    if high == 0:
        return Listeners(np.zeros(1), np.ones(1), 0.0, 1.0)
    certain = low <= M
    low = high if certain else low
    scale = float(low) if certain else min(float(low), max(_MOST_KEPT / q, _FEWEST_PICKS * M))
    mean = q * scale
    largest = min(high, int(poisson.isf(truncated, mean)) + 1)
    counts = _told_apart(mean, math.sqrt(mean * (1 - q * scale / high)), largest)
    beyond = _beyond(counts, q * scale, low, high)
    return Listeners(counts, -np.diff(beyond, prepend=1.0), float(beyond[-1]), 1.0 if certain else M / scale)


def _told_apart(mean: float, deviation: float, largest: int) -> Array:
    """All counts up to the largest if they are few, else those at fixed places around the mean."""
    if largest < _PLACES.size:
        return np.arange(largest + 1.0)
    places = np.floor(mean + deviation * _PLACES)
    return np.unique(np.append(places[(places >= 0) & (places < largest)], largest))


def _beyond(counts: Array, mean: float, low: int, high: int) -> Array:
    """Return the largest probability, over all D in [low, high], that Bi(D, mean / D) exceeds each count.

    Degrees in a part [a, b] are bounded together. Write the chance of a coin as 1 - e^-x. For a given sum of the x,
    more and more even coins have more successes in distribution (of two coins none succeeds as often as before, and
    both most often if they are alike). D coins of chance mean / D have an x of at least that at b, and the sum of
    theirs is at most that at a. So as many coins like those at b as make up the sum at a stand above them, of the last
    of which only a fraction is taken.
    """
    from scipy.stats import binom

    first, last = _parts(low, high)
    with np.errstate(divide="ignore", invalid="ignore"):
        coins = np.where(first == last, last, first * np.log1p(-mean / first) / np.log1p(-mean / last))
        whole = np.floor(coins)
        rest = -np.expm1((coins - whole) * np.log1p(-mean / last))
    rest = np.where(coins == whole, 0.0, rest)
    chance, count = mean / last, counts[:, None]
    beyond = (1 - rest) * binom.sf(count, whole, chance) + rest * binom.sf(count - 1, whole, chance)
    return np.maximum.accumulate(np.asarray(beyond.max(axis=1), dtype=float)[::-1])[::-1]


def _parts(low: int, high: int) -> tuple[Array, Array]:
    """First and last degrees of parts that cover [low, high]: one by one, then of equal widths in low / D."""
    alone = np.arange(low, min(high, low + _ALONE - 1) + 1, dtype=float)
    if alone[-1] == high:
        return alone, alone
    start = alone[-1] + 1
    places = np.linspace(low / start, low / high, 1 + math.ceil(_FINENESS * (low / start - low / high)))
    ends = np.unique(np.append(np.clip(np.floor(low / places[1:-1]), start, high), high))
    return np.append(alone, np.append(start, ends[:-1] + 1)), np.append(alone, ends)
