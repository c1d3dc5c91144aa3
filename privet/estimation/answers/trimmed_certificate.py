"""Certificates for trimmed evidence: how many lying neighbours a prediction from trimmed means withstands.

If k of d neighbours lie, the smallest trimmed mean of a column is the one in which the k largest values have become as
small as any answer can be, and the largest one is its mirror image. Margins are bounded by these, source by source and
class by class, so a prediction may withstand more liars than is certified here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.estimation.answers.liars_needed import Possible, lost, margins_of
from privet.estimation.answers.neighbour_evidence import answer_factors
from privet.estimation.resistant import TRIMMED

__all__ = ["MOST_LIARS", "TrimmedRange", "trimmed_liars"]

Array = NDArray[np.float64]

MOST_LIARS = 10
"""The largest number of liars that is looked for."""


class TrimmedRange:
    """The trimmed means of each node's neighbours, and how far liars can move them.

    Args:
        adjacency: The adjacency matrix; its values are not read.
        values: One row a node.
        possible: The values of all answers, any shape x columns.
        share: The share of neighbours that is left out at either end.
    """

    def __init__(
        self, adjacency: sp.csr_array, values: NDArray[np.floating[Any]], possible: Array, share: float = TRIMMED
    ) -> None:
        self.starts, degrees = adjacency.indptr[:-1].astype(np.int64), np.diff(adjacency.indptr).astype(np.int64)
        cut = np.where(degrees >= 3, np.ceil(share * degrees), 0).astype(np.int64)
        self.degrees, self.cut = degrees, np.minimum(cut, np.maximum(degrees - 1, 0) // 2)
        everything = np.concatenate([np.zeros((1, values.shape[1])), values, possible.reshape(-1, values.shape[1])])
        self.least, self.most = everything.min(axis=0), everything.max(axis=0)
        rows = np.repeat(np.arange(len(degrees)), degrees)
        self.sums = np.zeros((len(rows) + 1, values.shape[1]))
        for column in range(values.shape[1]):
            seen = values[adjacency.indices, column].astype(np.float64)
            self.sums[1:, column] = np.cumsum(seen[np.lexsort((seen, rows))])

    def after(self, liars: int) -> tuple[Array, Array]:
        """Return the smallest and the largest trimmed mean of each column after so many lies, people x columns."""
        number = np.minimum(liars, self.degrees)
        kept = np.maximum(self.degrees - 2 * self.cut, 1)[:, None]
        false = np.clip(number - self.cut, 0, self.degrees - 2 * self.cut)  # lies that are not left out
        begin, end = np.maximum(self.cut - number, 0), np.maximum(self.degrees - self.cut - number, 0)
        lowest = (self._sum(begin, end) + false[:, None] * self.least) / kept
        begin, end = self.cut + number, np.minimum(self.degrees - self.cut + number, self.degrees)
        highest = (self._sum(np.minimum(begin, end), end) + false[:, None] * self.most) / kept
        return lowest, highest

    def _sum(self, begin: NDArray[np.int64], end: NDArray[np.int64]) -> Array:
        return np.asarray(self.sums[self.starts + np.maximum(end, begin)] - self.sums[self.starts + begin])


def trimmed_liars(
    logits: Array,
    adjacency: sp.csr_array,
    labels: NDArray[np.integer[Any]],
    weights: NDArray[np.floating[Any]],
    own: Array,
    told: Array,
    possible: Possible,
    *,
    bounded: bool = False,
) -> NDArray[np.float32]:
    """Return a number of lying neighbours whom each prediction withstands, at most :data:`MOST_LIARS`.

    Args:
        logits: Everybody's logits, people x classes.
        adjacency: The public adjacency matrix.
        labels: The visible label of each person, -1 where there is none.
        weights: The weights of the four sources of :func:`.neighbour_evidence.neighbour_evidence`.
        own: What each person's answer tells of the own class, people x classes, centred.
        told: What it tells of a neighbour's class.
        possible: Everything that people could have answered.
        bounded: As there.
    """
    if bounded:
        factors = answer_factors(adjacency)[:, None]
        own, told = own * factors, told * factors
    unknown = (labels < 0).astype(np.float32)
    open_ = sp.csr_array(adjacency @ sp.diags_array(unknown))
    open_.eliminate_zeros()
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64)
    size = weights[1] + weights[2] * np.diff(open_.indptr) / np.sqrt(degrees + 1)
    parts = (
        (TrimmedRange(adjacency, told, possible.told), np.full(len(labels), float(weights[0]))),
        (TrimmedRange(open_, told, possible.told), size),
        (TrimmedRange(open_, own, possible.own), np.full(len(labels), float(weights[3]))),
    )
    predicted = logits.argmax(axis=1)
    margins = margins_of(logits, predicted)
    result = np.full(len(logits), float(MOST_LIARS), dtype=np.float32)
    result[np.diff(adjacency.indptr) == 0] = np.inf
    for liars in range(MOST_LIARS, 0, -1):
        change = sum(weight[:, None] * _gap(part, liars, weight < 0, predicted) for part, weight in parts)
        result[lost(margins + change).any(axis=1)] = liars - 1
    return result


def _gap(part: TrimmedRange, liars: int, turned: NDArray[np.bool_], predicted: NDArray[np.integer[Any]]) -> Array:
    """Return the worst change of the predicted class's mean less each other class's; the best where weights turn it."""
    (now, _), (lowest, highest) = part.after(0), part.after(liars)
    falls, rises, everybody = lowest - now, highest - now, np.arange(len(now))
    worst = falls[everybody, predicted][:, None] - rises
    best = rises[everybody, predicted][:, None] - falls
    return np.asarray(np.where(turned[:, None], best, worst))
