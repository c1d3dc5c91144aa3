"""Columns of people who did not answer: the mean of their neighbours'; see :mod:`privet.estimation.missing`."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from privet.data.store import StoredPartition
from privet.graph.distributed.columns import Columns
from privet.graph.distributed.operators import sum_operator

__all__ = ["completed_columns"]

_ROUNDS = 8


def completed_columns(x: Columns, mean: NDArray[np.float32], *, rounds: int = _ROUNDS) -> Columns:
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


def _reached(_: StoredPartition, x: NDArray[np.float32], around: NDArray[np.float32]) -> int:
    return int(np.count_nonzero((x[:, -1] == 0) & (around[:, -1] > 0)))


def _filled(_: StoredPartition, x: NDArray[np.float32], around: NDArray[np.float32]) -> NDArray[np.float32]:
    result = np.array(x)
    new = np.flatnonzero((x[:, -1] == 0) & (around[:, -1] > 0))
    result[new] = around[new] / around[new, -1:]
    return result


def _known(mean: NDArray[np.float32], _: StoredPartition, x: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.where(x[:, -1:] > 0, x[:, :-1], mean)
