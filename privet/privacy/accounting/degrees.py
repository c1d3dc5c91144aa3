"""The worst out-degree, and the laws of how often a node of that degree is picked."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

import numpy as np

from privet.privacy.accounting.losses import Array

__all__ = ["binomial", "binomial_fractions", "kept_weights", "over_degrees", "poisson", "rounded_up", "shift_weights"]

_CLOSE = 1e-3  # degrees that are not computed one by one may raise epsilon by this factor
_FIRST_BRACKET = 12  # and 5 M: larger degrees start as one bracket
_MOST_DEGREES = 2_000  # of a bracket that are looked at one by one
# probabilities of exceeding the values of C that are told apart; between them C is rounded up
_LEVELS = np.array([0.95, 0.85, 0.7, 0.55, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 5e-3, 1e-3, 1e-4, 1e-6, 1e-9, 1e-12])


def over_degrees(
    bound: Callable[[int, int], float], M: float, largest: int, most_bounds: int = 48
) -> tuple[float, int]:
    """A bound for all out-degrees in [0, largest], and the degree where the largest single one was found.

    ``bound(low, high)`` must hold for all degrees in [low, high]. Degrees up to M are picked with certainty and the
    bound grows with them, so [floor(M), floor(M)] stands for all of them. Brackets above that could matter are split;
    after ``most_bounds`` the rest are taken as they are, which is sound and less sharp.
    """
    degree = min(math.floor(M), largest)
    best, where, evaluated = bound(degree, degree), degree, 1
    if M <= 0 or degree == largest:
        return best, where
    first = min(math.floor(_FIRST_BRACKET + 5 * M), largest)
    waiting = [(low, low) for low in range(degree + 1, first + 1)] + [(first + 1, largest)] * (first < largest)
    brackets: list[tuple[float, int, int]] = []
    while waiting or (brackets and -brackets[0][0] > best * (1 + _CLOSE) and evaluated < most_bounds):
        if not waiting:
            _, low, high = heapq.heappop(brackets)
            middle = min(math.isqrt(low * high), 2 * low)
            waiting = [(low, middle), (middle + 1, high)]
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
    from scipy.stats import binom

    law = binom(trials, chance)
    counts = np.arange(_first_below(law.sf, truncated, trials) + 1)
    weights = np.asarray(law.pmf(counts), dtype=float)
    return weights, max(float(law.sf(counts[-1])), 1.0 - float(weights.sum()))  # what rounding lost is lost too


def poisson(mean: float, truncated: float) -> Array:
    """The probabilities of 0, 1, ..., K, with at most ``truncated`` left beyond K."""
    from scipy.stats import poisson as law

    counts = np.arange(_first_below(lambda k: law.sf(k, mean), truncated, None) + 1)
    return np.asarray(law.pmf(counts, mean), dtype=float)


def rounded_up(weights: Array, lost: float) -> tuple[Array, Array, float]:
    """Counts and their weights, with neighbouring counts rounded up to the largest of their group."""
    if weights.size <= _LEVELS.size:
        return np.arange(weights.size, dtype=float), weights, lost
    total = np.cumsum(weights)
    ends = np.unique(np.append(np.searchsorted(total, 1 - _LEVELS[lost < _LEVELS]), weights.size - 1))
    ends = ends[ends < weights.size]
    return ends.astype(float), np.diff(total[ends], prepend=0.0), lost


def binomial_fractions(low: int, high: int, q: float, truncated: float) -> tuple[Array, Array, float]:
    """Fractions u and their chances, above C/D in distribution for C ~ Bi(D, q) and *every* D in [low, high].

    Pr[C > u D] is computed for each D that is not too large, and bounded by exp(-D kl(u, q)) for the others.
    """
    from scipy.stats import binom

    levels = np.append(_LEVELS[truncated < _LEVELS], truncated)
    few = np.arange(low, min(high, low + _MOST_DEGREES) + 1)
    left, right = np.zeros(levels.size), np.ones(levels.size)
    for _ in range(40):
        middle = (left + right) / 2
        beyond = binom.sf(np.floor(middle[:, None] * few), few, q).max(axis=1)
        if few[-1] < high:
            beyond = np.maximum(beyond, np.where(middle > q, np.exp(-(few[-1] + 1) * _kl(middle, q)), 1.0))
        left, right = np.where(beyond <= levels, left, middle), np.where(beyond <= levels, middle, right)
    return right, -np.diff(levels, prepend=1.0), truncated


def _kl(u: Array, q: float) -> Array:
    """Divergence of Bernoulli(u) from Bernoulli(q)."""
    from scipy.special import rel_entr

    value: Array = rel_entr(u, q) + rel_entr(1 - u, 1 - q)
    return value


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
