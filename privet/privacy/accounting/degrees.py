"""The worst out-degree, and the laws of how often a node of that degree is picked."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

import numpy as np

from privet.privacy.accounting.losses import Array

__all__ = ["binomial", "binomials", "kept_weights", "over_degrees", "poisson", "shift_weights"]

_CLOSE = 1e-3  # degrees that are not computed one by one may raise epsilon by this factor
_LAST_BRACKET = 1_000  # larger degrees start as one bracket


def over_degrees(
    bound: Callable[[int, int], float], M: float, largest: int, most_bounds: int = 64
) -> tuple[float, int]:
    """A bound for all out-degrees in [0, largest], and the degree where the largest single one was found.

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
    """Weights of the shifts 0, 1/2, 1, 3/2, ... of a node that k sub-graphs pick with probability ``picked[k]``."""
    weights = np.zeros(max(2, 2 * picked.size - 1))
    weights[::2][: picked.size] = (1 - q) * picked
    weights[1] = q
    return weights


def kept_weights(q: float, picked: Array) -> Array:
    """The same where a centre stays in the sub-graphs that picked it: its own gradient comes on top of their k."""
    return np.outer(picked, [1 - q, q]).ravel()


def binomial(trials: int, chance: float, truncated: float) -> tuple[Array, float]:
    """The probabilities of 0, 1, ..., K and of all beyond K, the least K for which that is at most ``truncated``."""
    laws, lost = binomials(np.array([float(trials)]), chance, truncated)
    return laws[0], max(float(lost[0]), 1.0 - float(laws[0].sum()))  # what rounding lost is lost too


def binomials(trials: Array, chance: float, truncated: float) -> tuple[Array, Array]:
    """The same for several numbers of trials and one K: a row of probabilities for each, and what lies beyond."""
    from scipy.stats import binom

    most = int(trials.max())
    last = _first_below(lambda k: binom.sf(k, most, chance), truncated, most)
    laws = np.asarray(binom.pmf(np.arange(last + 1), trials[:, None], chance), dtype=float)
    return laws, np.asarray(binom.sf(last, trials, chance), dtype=float)


def poisson(mean: float, truncated: float) -> Array:
    """The probabilities of 0, 1, ..., K, with at most ``truncated`` left beyond K."""
    from scipy.stats import poisson as law

    counts = np.arange(_first_below(lambda k: law.sf(k, mean), truncated, None) + 1)
    return np.asarray(law.pmf(counts, mean), dtype=float)


def _first_below(survival: Callable[[Array], Array], truncated: float, largest: int | None) -> int:
    """The least count K with survival(K) <= truncated."""
    low, high = -1, 1
    while (largest is None or high < largest) and float(survival(np.asarray(high))) > truncated:
        low, high = high, 2 * high
    high = high if largest is None else min(high, largest)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if float(survival(np.asarray(middle))) > truncated else (low, middle)
    return high
