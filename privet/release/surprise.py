"""Measures of surprise that stay valid however often somebody looks.

An e-value is a bet against honesty: it starts at 1, and with honest devices its expectation never exceeds 1, after any
number of reports and whatever their inputs are. So the probability that it *ever* reaches 1 / alpha is at most alpha
(Ville), and 1 / e is a p-value that may be looked at after every report. A mean of e-values is an e-value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincc, betaln, gammaln, logsumexp

__all__ = ["equal_p_value", "mean_log_e", "share_log_e"]

Array = NDArray[np.float64]


def share_log_e(counts: ArrayLike, trials: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Array:
    """Return log e-values against shares that honest devices can have.

    Each of the trials succeeds with a probability between ``lower`` and ``upper``, which may differ from trial to
    trial. Half of the stake is bet on a probability that is uniform above ``upper``, half on one below ``lower``:

        e = integral over t of t^x (1 - t)^(n - x) / (upper^x (1 - upper)^(n - x)),        and the mirror image.

    A bet at t > upper gains t / upper or (1 - t) / (1 - upper), at most 1 on average for every probability up to upper.

    Args:
        counts: The number of successes x; all arguments are broadcast.
        trials: The number of trials n.
        lower: The smallest probability of a success.
        upper: The largest probability of a success.
    """
    found, total = np.asarray(counts, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    above = _above(found, total, np.asarray(upper, dtype=np.float64))
    below = _above(total - found, total, 1 - np.asarray(lower, dtype=np.float64))
    return np.asarray(np.logaddexp(above, below) - np.log(2))


def _above(found: Array, total: Array, bound: Array) -> Array:
    """Return the log e-value against probabilities of at most ``bound``; 0 where there is nothing to bet on."""
    inside = np.clip(bound, 1e-300, 1 - 1e-15)
    with np.errstate(divide="ignore"):
        mixed = betaln(found + 1, total - found + 1) + np.log(betaincc(found + 1, total - found + 1, inside))
    fair = found * np.log(inside) + (total - found) * np.log1p(-inside)
    return np.where((bound >= 1 - 1e-15) | (total == 0), 0.0, mixed - np.log1p(-inside) - fair)


def mean_log_e(values: ArrayLike) -> float:
    """Return the logarithm of the mean of some e-values, given their logarithms; 0 of none."""
    logs = np.ravel(np.asarray(values, dtype=np.float64))
    return float(logsumexp(logs) - np.log(len(logs))) if len(logs) else 0.0


def equal_p_value(sizes: NDArray[np.integer[Any]], log_peaks: Array, people: int) -> Array:
    """Return a p-value of each group of equal reports; the smallest of all, uncorrected, is one for the study.

    Given one report whose probability is at most t whatever the input is, g - 1 given others are equal to it with
    probability at most t^(g - 1). There are at most C(n, g) such groups, and half of the stake is on pairs, a quarter
    on triples, and so on: the p-value of a group is the smallest 2^(g - 1) C(n, g) t^(g - 1) over 2 <= g <= its size.

    Args:
        sizes: The number of reports in each group.
        log_peaks: The log-probability of each group's report, at most, over all inputs.
        people: The number n of people who can report, now or later.
    """
    result = np.zeros(len(sizes))
    largest = int(sizes.max(initial=1))
    for size in range(2, largest + 1):
        rows = np.flatnonzero(sizes >= size)
        choose = gammaln(people + 1) - gammaln(size + 1) - gammaln(max(people - size, 0) + 1)
        bound = (size - 1) * (np.log(2) + log_peaks[rows]) + choose
        result[rows] = np.minimum(result[rows], bound)
    return np.exp(result)
