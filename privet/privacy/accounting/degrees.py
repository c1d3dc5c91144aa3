"""The worst out-degree, and the laws of how often a node of that degree is picked.

The *listeners* of a node are its out-neighbours: only their sub-graphs may contain it. A node of out-degree D has
C ~ Bi(D, q) central listeners, each of which picks it with probability M / D. That is the same as being *kept* with
probability s / D and then picking with probability M / s, for any scale s between M and D. Revealing how many were kept
can only be worse, so Bi(D, q s / D) listeners that pick with probability M / s stand for degree D, and any law that
lies above Bi(D, q s / D) for every D of a bracket stands for the bracket.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from privet.privacy.accounting.losses import Array

__all__ = [
    "Listeners",
    "binomial",
    "binomials",
    "kept_weights",
    "listeners",
    "over_degrees",
    "poisson",
    "shift_weights",
]

_CLOSE = 1e-3  # degrees that are not computed one by one may raise epsilon by this factor
_LAST_BRACKET = 1_000  # larger degrees start as one bracket
_MOST_KEPT = 800.0  # expected listeners that are kept at most: revealing so many costs epsilon about 1 / 800
_FEWEST_PICKS = 10.0  # and the least scale over M
_ALONE = 64  # degrees of a bracket that are computed one by one
_FINENESS = 256  # the others, in parts that differ by this fraction in s / D
# counts that are told apart, in standard deviations from their mean; between them a count is rounded up
_PLACES = np.concatenate([np.arange(-8.0, -3.0, 1.0), np.arange(-3.0, 4.5, 1 / 8), np.arange(4.5, 12.0, 0.5)])


def over_degrees(
    bound: Callable[[int, int], float], M: float, largest: int, most_bounds: int = 64
) -> tuple[float, int]:
    """Return a bound for all out-degrees in [0, largest], and the degree where the largest single one was found.

    ``bound(low, high)`` must hold for all degrees in [low, high]. Degrees up to M are picked with certainty and the
    bound grows with them, so [floor(M), floor(M)] stands for all of them. The others start in brackets [d, 2 d - 1].
    Those that could matter are cut at a degree in their middle; after ``most_bounds`` the rest are taken as they are,
    which is sound and less sharp.
    """
    degree = min(math.floor(M), largest)
    best, where, evaluated = bound(degree, degree), degree, 1
    if M <= 0 or degree == largest:
        return best, where
    waiting, low = [], degree + 1
    while low <= largest:
        high = largest if low > _LAST_BRACKET else min(2 * low - 1, largest)
        waiting.append((low, high))
        low = high + 1
    brackets: list[tuple[float, int, int]] = []
    while waiting or (brackets and -brackets[0][0] > best * (1 + _CLOSE) and evaluated < most_bounds):
        if not waiting:
            _, low, high = heapq.heappop(brackets)
            middle = math.isqrt(low * high)
            parts = [(low, middle - 1), (middle, middle), (middle + 1, high)]
            waiting = [(first, last) for first, last in parts if first <= last]
        low, high = waiting.pop()
        value, evaluated = bound(low, high), evaluated + 1
        if low < high:
            heapq.heappush(brackets, (-value, low, high))
        elif value > best:
            best, where = value, low
    return max([best, *(-value for value, _, _ in brackets)]), where


def shift_weights(q: float, picked: Array) -> Array:
    """Return the weights of shifts 0, 1/2, 1, ... of a node that k sub-graphs pick with probability ``picked[k]``."""
    weights = np.zeros(max(2, 2 * picked.size - 1))
    weights[::2][: picked.size] = (1 - q) * picked
    weights[1] = q
    return weights


def kept_weights(q: float, picked: Array) -> Array:
    """Return them where a centre stays in the sub-graphs that picked it: its own gradient comes on top of their k."""
    return np.outer(picked, [1 - q, q]).ravel()


def binomial(trials: int, chance: float, truncated: float) -> tuple[Array, float]:
    """Return the probabilities of 0, 1, ..., K and of all beyond, for the least K that leaves at most ``truncated``."""
    laws, lost = binomials(np.array([float(trials)]), chance, truncated)
    return laws[0], max(float(lost[0]), 1.0 - float(laws[0].sum()))  # what rounding lost is lost too


def binomials(trials: Array, chance: float, truncated: float) -> tuple[Array, Array]:
    """Return the same for several numbers of trials and one K: a row of probabilities for each, and the rest."""
    from scipy.stats import binom

    most = int(trials.max())
    last = _first_below(lambda k: binom.sf(k, most, chance), truncated, most)
    laws = np.asarray(binom.pmf(np.arange(last + 1), trials[:, None], chance), dtype=float)
    return laws, np.asarray(binom.sf(last, trials, chance), dtype=float)


def poisson(mean: float, truncated: float) -> Array:
    """Return the probabilities of 0, 1, ..., K, with at most ``truncated`` left beyond K."""
    from scipy.stats import poisson as law

    counts = np.arange(_first_below(lambda k: law.sf(k, mean), truncated, None) + 1)
    return np.asarray(law.pmf(counts, mean), dtype=float)


def _first_below(survival: Callable[[Array], Array], truncated: float, largest: int | None) -> int:
    """Return the least count K with survival(K) <= truncated."""
    low, high = -1, 1
    while (largest is None or high < largest) and float(survival(np.asarray(high))) > truncated:
        low, high = high, 2 * high
    high = high if largest is None else min(high, largest)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if float(survival(np.asarray(middle))) > truncated else (low, middle)
    return high


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
    """Return all counts up to the largest if they are few, else those at fixed places around the mean."""
    if largest < _PLACES.size:
        return np.arange(largest + 1.0)
    places = np.floor(mean + deviation * _PLACES)
    return np.unique(np.append(places[(places >= 0) & (places < largest)], largest))


def _beyond(counts: Array, mean: float, low: int, high: int) -> Array:
    """Return the largest probability, over all D in [low, high], that Bi(D, mean / D) exceeds each count.

    Degrees in a part [a, b] are bounded together. Write the chance of a coin as 1 - e^-x. If coins become more in
    number and more alike while the sum of their x stays the same, they have more successes in distribution: of two
    coins none succeeds as often as before, and both succeed most often if they are alike. D coins of chance mean / D
    each have at least the x of the coins at b, and their x add up to at most the sum at a. So replace them by coins
    like those at b whose x add up to the sum at a; the last one counts in part.
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
    """Return first and last degrees of parts that cover [low, high]: one by one, then of equal widths in low / D."""
    alone = np.arange(low, min(high, low + _ALONE - 1) + 1, dtype=float)
    if alone[-1] == high:
        return alone, alone
    start = alone[-1] + 1
    places = np.linspace(low / start, low / high, 1 + math.ceil(_FINENESS * (low / start - low / high)))
    ends = np.unique(np.append(np.clip(np.floor(low / places[1:-1]), start, high), high))
    return np.append(alone, np.append(start, ends[:-1] + 1)), np.append(alone, ends)
