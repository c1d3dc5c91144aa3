"""The worst out-degree, and the laws of how often a node of that degree is picked."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

import numpy as np

from privet.privacy.losses import Array

__all__ = ["binomial", "binomial_fractions", "over_degrees", "poisson", "rounded_up", "shift_weights"]

_CLOSE = 1e-3  # degrees that are not computed one by one may raise epsilon by this factor
_FIRST_TAIL = 32  # degrees from here on start as one bracket
_MOST_PARTS = 12  # values of C told apart; between them C is rounded up


def over_degrees(
    bound: Callable[[int, int | None], float], M: float, largest: int, most_bounds: int = 64
) -> tuple[float, int]:
    """A bound for all out-degrees in [0, largest], and the degree where the largest single one was found.

    ``bound(low, high)`` must hold for all degrees in [low, high], or from ``low`` on if ``high`` is None. Degrees up
    to M are picked with certainty and the bound grows with them, so [floor(M), floor(M)] stands for all of them.
    Brackets above that could matter are halved; after ``most_bounds`` the rest are taken as they are, which is sound
    and less sharp.
    """
    degree = min(math.floor(M), largest)
    best, where, evaluated = bound(degree, degree), degree, 1
    if M <= 0 or degree == largest:
        return best, where
    brackets: list[tuple[float, int, int]] = []

    def push(low: int, high: int) -> None:
        if low <= high:
            whole_tail = high == largest and high > 2 * low
            heapq.heappush(brackets, (-bound(low, None if whole_tail else high), low, high))

    low = degree + 1
    while low < min(_FIRST_TAIL * max(M, 1.0), largest):
        push(low, min(2 * low, largest))
        low = 2 * low + 1
    push(low, largest)
    while brackets and -brackets[0][0] > best * (1 + _CLOSE) and evaluated < most_bounds:
        value, low, high = heapq.heappop(brackets)
        if low == high:
            best, where = -value, low
            continue
        middle = 2 * low if high == largest and high > 2 * low else math.isqrt(low * high)
        push(low, middle)
        push(middle + 1, high)
        evaluated += 2
    return max([best, *(-value for value, _, _ in brackets)]), where


def shift_weights(q: float, picked: Array) -> Array:
    """Weights of the shifts 0, 1/2, 1, 3/2, ... of a node that k sub-graphs pick with probability ``picked[k]``."""
    weights = np.zeros(max(2, 2 * picked.size - 1))
    weights[::2][: picked.size] = (1 - q) * picked
    weights[1] = q
    return weights


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
    if weights.size <= _MOST_PARTS:
        return np.arange(weights.size, dtype=float), weights, lost
    total = np.cumsum(weights)
    likely = int(np.searchsorted(total, 1e-9))  # all rarer small counts become one group
    ends = np.unique(np.linspace(likely, weights.size - 1, _MOST_PARTS).round().astype(int))
    return ends.astype(float), np.diff(total[ends], prepend=0.0), lost


def binomial_fractions(least: int, q: float, truncated: float) -> tuple[Array, Array, float]:
    """Fractions u and their chances, above C/D in distribution for C ~ Bi(D, q) and *every* D >= least.

    Chernoff: Pr[C > u D] <= exp(-D kl(u, q)) <= exp(-least kl(u, q)) for u >= q.
    """
    tails = np.append(1.0, np.geomspace(0.5, truncated, _MOST_PARTS))
    low, high = np.full(tails.size, q), np.ones(tails.size)
    for _ in range(60):
        middle = (low + high) / 2
        beyond = -least * _kl(middle, q) < np.log(tails)
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return high[1:], tails[:-1] - tails[1:], truncated


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
