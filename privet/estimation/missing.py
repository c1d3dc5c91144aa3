"""Features of people who did not answer: the mean of what their neighbours reported.

"No report" is neither a row of zeros nor the middle of each range: both are answers that nobody gave, and propagation
would carry them on as if somebody had. With S the respondents' symbols and P the averages over neighbours,

    X = (P S) diag(scale) + offset,        rows of P sum to 1,

so that an unbiased estimate stays one of the mean around a node, and P S is as sparse as neighbours' reports are.
Respondents keep their own rows. A node without a respondent among its neighbours takes their mean in the next round.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.errors import InvalidData
from privet.graph.memory import topology_of
from privet.graph.operators import GraphLike
from privet.mechanisms import AffineFeatures

__all__ = ["Completed", "complete_from_neighbours", "report_distances"]

_ROUNDS = 8


@dataclass(frozen=True, eq=False)
class Completed:
    """Features for all nodes.

    Attributes:
        features: One row for each node.
        distances: The distance from each node to the reports that its row comes from: 0 if it is the node's own
            report, -1 if nobody within reach reported.
    """

    features: AffineFeatures
    distances: NDArray[np.int64]


def report_distances(respondents: NDArray[np.int64], graph: GraphLike, *, rounds: int = _ROUNDS) -> NDArray[np.int64]:
    """Return the distance from each node to the nearest report, 0 for respondents, -1 if nobody within reach reported.

    Args:
        respondents: The nodes that reported.
        graph: The graph, or its topology or adjacency matrix.
        rounds: The largest distance.

    >>> path = sp.csr_array([[0.0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])  # and node 3 alone
    >>> report_distances(np.array([0]), path).tolist()
    [0, 1, 2, -1]
    """
    topology = topology_of(graph)
    distances = np.full(topology.num_nodes, -1, dtype=np.int64)
    distances[respondents] = 0
    for distance in range(1, rounds + 1):
        reached = (distances < 0) & (topology @ (distances >= 0).astype(np.float32) > 0)
        if not reached.any():
            break
        distances[reached] = distance
    return distances


def complete_from_neighbours(
    estimate: AffineFeatures, respondents: NDArray[np.int64], adjacency: sp.csr_array, *, rounds: int = _ROUNDS
) -> Completed:
    """Fill in the features of nodes that did not answer with the mean of their neighbours'.

    Args:
        estimate: The respondents' estimated features, one row for each.
        respondents: The node of each row.
        adjacency: The graph; its weights are those of the means.
        rounds: The number of rounds. Nodes that are still unknown then get the mean of all respondents, which tells
            nothing about any of them and costs d entries each.

    >>> reports = AffineFeatures(sp.csr_array([[1.0, 0.0], [0.0, 2.0]]), np.ones(2), np.zeros(2))
    >>> star = sp.csr_array([[0.0, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])  # and node 3 alone
    >>> found = complete_from_neighbours(reports, np.array([1, 2]), star)
    >>> found.features.dense().tolist(), found.distances.tolist()
    ([[0.5, 1.0], [1.0, 0.0], [0.0, 2.0], [0.5, 1.0]], [1, 0, 0, -1])
    """
    nodes = int(adjacency.shape[0])
    _check_respondents(respondents, estimate.shape[0], nodes)
    rows = _placed(estimate.symbols, respondents, nodes)
    distances = np.full(nodes, -1, dtype=np.int64)
    distances[respondents] = 0
    for distance in range(1, rounds + 1):
        waiting = np.flatnonzero(distances < 0)
        known = sp.diags_array((distances >= 0).astype(np.float64), format="csr")
        weights = sp.csr_array(adjacency[waiting] @ known)
        totals = np.asarray(weights.sum(axis=1)).ravel()
        reached = totals > 0
        if not reached.any():
            break
        means = sp.diags_array(1 / totals[reached], format="csr") @ weights[reached] @ rows
        rows = sp.csr_array(rows + _placed(means, waiting[reached], nodes))
        distances[waiting[reached]] = distance
    unknown = np.flatnonzero(distances < 0)
    if len(unknown):
        rows = sp.csr_array(rows + _placed(_repeated_mean(estimate.symbols, len(unknown)), unknown, nodes))
    return Completed(AffineFeatures(rows, estimate.scale, estimate.offset), distances)


def _repeated_mean(symbols: sp.csr_array, count: int) -> sp.csr_array:
    mean = np.asarray(symbols.mean(axis=0, dtype=np.float64)).ravel()
    columns = np.flatnonzero(mean)
    parts = np.tile(mean[columns], count), np.tile(columns, count), np.arange(count + 1) * len(columns)
    return sp.csr_array(parts, shape=(count, len(mean)))


def _placed(block: sp.csr_array, places: NDArray[np.int64], nodes: int) -> sp.csr_array:
    """Put the block's rows at their places among all nodes; the others are empty."""
    order = np.argsort(places)
    counts = np.zeros(nodes, dtype=np.int64)
    counts[places] = np.diff(block.indptr)
    ordered = block if np.array_equal(order, np.arange(len(order))) else sp.csr_array(block[order])
    starts = np.concatenate([[0], np.cumsum(counts)])
    return sp.csr_array((ordered.data, ordered.indices, starts), shape=(nodes, block.shape[1]))


def _check_respondents(respondents: NDArray[np.int64], rows: int, nodes: int) -> None:
    if not rows:
        raise InvalidData("Nobody answered: there are no reports to learn from.")
    if respondents.shape != (rows,):
        raise InvalidData("respondents", f"one node for each of {rows} reports", f"shape {respondents.shape}")
    wrong = (respondents < 0) | (respondents >= nodes)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidData("respondents", f"nodes below {nodes}", f"{respondents[row]} in row {row}")
    if len(np.unique(respondents)) < rows:
        node = int(np.argmax(np.bincount(respondents) > 1))
        raise InvalidData("respondents", "different nodes", f"node {node} twice")
