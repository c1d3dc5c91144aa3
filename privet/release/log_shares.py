"""Scores of classes by the published classes of a person's friends, the same to the last bit on every device.

Weights of classes in the published table are whole 255ths, so sums over friends are exact. The logarithm is made of
additions, products and quotients alone, which IEEE arithmetic rounds alike everywhere, and is then rounded to a fixed
point: every sum behind it is exact again, in whatever order it is added.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidData

__all__ = ["FIXED_POINT", "LARGEST_SHARES", "WHOLE", "log_shares", "mixed", "published_weights"]

WHOLE = 255
"""The weight in the published table of somebody whose class is certain."""

FIXED_POINT = 1 << 16
"""Units of a log-share in 1."""

LARGEST_SHARES = 1 << 16
"""The largest sum of class shares: products with friends' weights then stay exact."""

_FEW = 1 << 16  # entries of lists
_TERMS = 10  # of the series of the logarithm: t is at most 0.172, so they leave less than a double's last bit
_ROOT = 0.7071067811865476
_LOG_2 = 0.6931471805599453


def published_weights(lists: Any, table: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Add up the table's rows of each person's friends, people x classes, in 255ths.

    Args:
        lists: One row of the 0/1 adjacency matrix for each person, CSR or anything that multiplies a matrix.
        table: The published weights, everybody x classes.
    """
    if lists.shape[1] != len(table):
        expected = f"a row for each of {lists.shape[1]} people"
        raise InvalidData("published table of classes", expected, f"{len(table)} rows")
    if not hasattr(lists, "indptr"):  # a simulation whose lists lie elsewhere and can only be multiplied with
        return np.asarray(np.rint(lists @ table.astype(np.float32)), dtype=np.int64)
    if lists.nnz > _FEW:
        return np.asarray(np.rint(lists @ table.astype(np.float64)), dtype=np.int64)
    # A device reads the rows of its owner's friends only, of a table that may be about millions of people.
    sums = np.cumsum(table[lists.indices], axis=0, dtype=np.int64)
    ends = np.concatenate([np.zeros((1, table.shape[1]), dtype=np.int64), sums])[lists.indptr]
    return np.asarray(ends[1:] - ends[:-1])


def log_shares(weights: NDArray[np.int64], shares: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return log(s_k / p_k) in units of 2^-16, people x classes.

    With n_k friends in class k of n, and p_k the class's share among all people,

        s_k = (n_k + 0.3 p_k) / (n + 0.3),        which is p_k where no friend is published: the logarithm is then 0.

    Args:
        weights: The friends' published weights, 255 n_k.
        shares: Whole numbers in proportion to the class shares.
    """
    of_class, everybody = shares.astype(np.float64), float(shares.sum())
    found = weights.astype(np.float64)
    above = 10 * everybody * found + 3 * WHOLE * of_class
    below = of_class * (10 * found.sum(axis=1, keepdims=True) + 3 * WHOLE)
    return np.asarray(np.floor(_log(above / below) * FIXED_POINT + 0.5), dtype=np.int64)


def mixed(weights: NDArray[np.int64], mixing: NDArray[np.integer[Any]], shares: Any) -> NDArray[np.float64]:
    """Return the sum over k of mixing[k, c] log(s_k / p_k), people x classes c.

    Args:
        weights: As for :func:`log_shares`.
        mixing: Whole numbers up to 2^20, classes x classes.
        shares: As for :func:`log_shares`.
    """
    logs = log_shares(weights, shares).astype(np.float64)
    return np.asarray(logs @ mixing.astype(np.float64) / FIXED_POINT)


def _log(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return natural logarithms of positive numbers by 2 atanh((m - 1) / (m + 1)) + e log 2, for m 2^e."""
    mantissa, exponent = np.frexp(values)
    small = mantissa < _ROOT
    mantissa, exponent = np.where(small, 2 * mantissa, mantissa), np.where(small, exponent - 1, exponent)
    t = (mantissa - 1) / (mantissa + 1)
    square, total = t * t, np.full(t.shape, 1 / (2 * _TERMS + 1))
    for odd in range(2 * _TERMS - 1, 0, -2):
        total = total * square + 1 / odd
    return np.asarray(2 * t * total + exponent * _LOG_2)
