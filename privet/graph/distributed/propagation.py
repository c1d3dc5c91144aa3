"""KProp, personalised PageRank and missing rows over a stored graph.

The mathematics is that of :mod:`privet.graph.propagation` and :mod:`privet.estimation.missing`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.data.store import StoredPartition
from privet.errors import InvalidParameter
from privet.graph.distributed.columns import Columns
from privet.graph.distributed.operators import ClusterOperator, sum_operator
from privet.graph.propagation import series_weights

__all__ = ["completed_columns", "kprop", "pagerank_series", "polynomial"]


def kprop(x: Columns, operator: ClusterOperator, hops: int) -> Columns:
    """Compute A^hops X. The files of a hop are removed as soon as the next one is done.

    Args:
        x: The columns, which stay.
        operator: A.
        hops: The number of propagations, K.
    """
    if isinstance(hops, bool) or not isinstance(hops, int) or hops < 0:
        raise InvalidParameter("hops", "an integer of at least 0", hops)
    for _ in range(hops):
        x = operator @ x
    return x


def pagerank_series(
    x: Columns, operator: ClusterOperator, alpha: float, *, terms: int | None = None, tolerance: float | None = None
) -> Columns:
    """Compute sum_{l < L} alpha (1 - alpha)^l P^l X by Horner's rule, with L - 1 hops.

    Args:
        x: The columns, which stay.
        operator: P, from :func:`privet.graph.distributed.pagerank_operator`.
        alpha: The decay, between 0 and 1.
        terms: The number of terms, L; give it or ``tolerance``.
        tolerance: The largest error in units of the features' norm, from which L follows.
    """
    return polynomial(x, operator, series_weights(alpha, terms, tolerance))


def polynomial(x: Columns, operator: ClusterOperator, coefficients: Sequence[float]) -> Columns:
    """Compute sum_l coefficients[l] A^l X by Horner's rule: one hop for each degree.

    Args:
        x: The columns, which stay.
        operator: A.
        coefficients: The polynomial's coefficients, from the constant on.
    """
    if not coefficients or not all(math.isfinite(coefficient) for coefficient in coefficients):
        raise InvalidParameter("coefficients", "at least one finite number", coefficients)
    *lower, highest = coefficients
    if not lower:
        return x.graph.map(partial(_scaled, highest), x, width=x.width, dtype=x.dtype)
    result, factor = x, highest
    for coefficient in reversed(lower):
        result = operator.hop(result, x if coefficient else None, factor=factor, coefficient=coefficient)
        factor = 1.0
    return result


def completed_columns(x: Columns, mean: NDArray[np.float32], *, rounds: int = 8) -> Columns:
    """Fill in unknown rows round by round with the mean of the neighbours' known rows, and drop the last column.

    Args:
        x: The columns; the last is 1 where a row is known, and where it is 0 all are 0.
        mean: The row of those whom no known row reaches.
        rounds: The number of rounds.
    """
    operator = sum_operator(x.graph)
    for _ in range(rounds):
        around = operator @ x
        reached = sum(x.graph.each(_reached, x, around))
        if not reached:
            break
        filled = x.graph.map(_filled, x, around, width=x.width, dtype=x.dtype)
        around.close()
        x.close()
        x = filled
    result = x.graph.map(partial(_known, mean), x, width=x.width - 1, dtype=x.dtype)
    x.close()
    return result


def _scaled(factor: float, _: StoredPartition, block: NDArray[Any]) -> NDArray[Any]:
    scaled: NDArray[Any] = factor * block
    return scaled


def _reached(_: StoredPartition, x: NDArray[np.float32], around: NDArray[np.float32]) -> int:
    return int(np.count_nonzero((x[:, -1] == 0) & (around[:, -1] > 0)))


def _filled(_: StoredPartition, x: NDArray[np.float32], around: NDArray[np.float32]) -> NDArray[np.float32]:
    result = np.array(x)
    new = np.flatnonzero((x[:, -1] == 0) & (around[:, -1] > 0))
    result[new] = around[new] / around[new, -1:]
    return result


def _known(mean: NDArray[np.float32], _: StoredPartition, x: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.where(x[:, -1:] > 0, x[:, :-1], mean)
