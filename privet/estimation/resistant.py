"""Aggregation that a few liars cannot move far: trimmed means over neighbours, and bounded influence of each person.

Everything here reads reports and public data only. Nothing can tell a lie from an honest report; it bounds what either
can do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.mechanisms import AffineFeatures, NeighbourReports

__all__ = [
    "MANY_FRIENDS",
    "MOST_INFLUENCE",
    "TRIMMED",
    "bounded_influence",
    "bounded_lists",
    "scaled_rows",
    "trimmed_means",
]

TRIMMED = 0.1
"""The share of the neighbours that is left out at either end."""

MOST_INFLUENCE = 2.0
"""The most that one person's report counts, in reports of an average person."""

MANY_FRIENDS = 4.0
"""Whoever counts more friends than so many times the median is left out of what is learned from counts."""

_LONGEST = 16  # times the median length of a list: longer ones are cut, which loses 1 to 2 % of honest entries


def trimmed_means(adjacency: sp.csr_array, values: NDArray[np.floating[Any]], share: float = TRIMMED) -> NDArray[Any]:
    """Average each column over a node's neighbours without the smallest and the largest of them.

    Of d >= 3 neighbours ceil(share d) are left out at either end, so up to so many liars cannot push a mean beyond what
    honest neighbours say. Fewer than three neighbours are averaged as they are, and no neighbour gives 0.

    Args:
        adjacency: The adjacency matrix; its values are not read.
        values: One row a node.
        share: The share of neighbours to leave out at either end, below a half.
    """
    degrees = np.diff(adjacency.indptr)
    cut = np.where(degrees >= 3, np.ceil(share * degrees), 0).astype(np.int64)
    cut = np.minimum(cut, (degrees - 1) // 2)
    rows = np.repeat(np.arange(len(degrees)), degrees)
    rank = np.arange(len(rows)) - adjacency.indptr[rows]
    kept = (rank >= cut[rows]) & (rank < (degrees - cut)[rows])
    left = np.maximum(degrees - 2 * cut, 1)
    result = np.empty((len(degrees), values.shape[1]), dtype=values.dtype)
    for column in range(values.shape[1]):
        seen = values[adjacency.indices, column]
        ordered = seen[np.lexsort((seen, rows))]
        result[:, column] = np.bincount(rows[kept], ordered[kept], len(degrees)) / left
    return result


def bounded_influence(operator: sp.csr_array, hops: int = 1, most: float = MOST_INFLUENCE) -> NDArray[np.float64]:
    """Return a factor for each person's report, so that it counts for at most ``most`` average people.

    A report's influence is the sum of the weights with which it enters everybody's aggregate.

    Args:
        operator: The aggregation: row i holds the weights of what enters i's aggregate.
        hops: The number of aggregations.
        most: The bound, in multiples of the average influence.
    """
    turned = abs(operator).T.tocsr()
    influence = np.ones(operator.shape[0])
    for _ in range(hops):
        influence = turned @ influence
    average = influence.mean()
    return np.asarray(np.minimum(1.0, most * average / np.maximum(influence, 1e-12 + 1e-9 * average)))


def scaled_rows(estimate: AffineFeatures, factors: NDArray[np.float64]) -> AffineFeatures:
    """Scale each person's report; a factor of 0 is a report that says nothing."""
    lengths = np.diff(estimate.symbols.indptr)
    data = (estimate.symbols.data * np.repeat(factors, lengths)).astype(estimate.symbols.data.dtype)
    scaled = sp.csr_array((data, estimate.symbols.indices, estimate.symbols.indptr), shape=estimate.symbols.shape)
    return AffineFeatures(scaled, estimate.scale, estimate.offset)


def bounded_lists(reports: NeighbourReports, seed: int) -> NeighbourReports:
    """Thin out long lists: of a list of more than 16 times the median length so many entries are kept at random.

    Args:
        reports: The reported lists.
        seed: The seed of the choice.
    """
    lengths = np.diff(reports.indptr)
    most = max(1, int(np.ceil(_LONGEST * np.median(lengths)))) if len(lengths) else 1
    rows = np.repeat(np.arange(len(reports)), lengths)
    order = np.lexsort((np.random.default_rng(seed).random(len(rows)), rows))
    rank = np.empty(len(rows), dtype=np.int64)
    rank[order] = np.arange(len(rows)) - reports.indptr[rows[order]]
    kept = rank < most
    starts = np.concatenate([[0], np.cumsum(np.minimum(lengths, most))])
    return NeighbourReports(reports.num_nodes, starts, reports.indices[kept], reports.users)
