"""The holder's side of a graph: protected training nodes, unprotected nodes, and nobody else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data import Graph
from privet.data.interop import as_graph
from privet.errors import InvalidData
from privet.graph.subgraphs import few_neighbours
from privet.mechanisms import GridSum, SeededBits
from privet.mechanisms.primitives.grid import unit_rows_on_grid
from privet.models.clipping.aggregated import AggregatedRows, FeatureTable
from privet.models.clipping.rows import SparseRows
from privet.systems.central._public_axes import PublicAxes

__all__ = [
    "TrainingView",
    "beside_aggregates",
    "bounded_listeners",
    "dense_rows",
    "standardised",
    "standardised_dense",
    "unit_sums",
]

_SPARSE = 0.15  # share of entries that are not zero below which sparse products are faster
_LOOKED_AT = 1_000  # unprotected nodes


@dataclass(frozen=True, eq=False)
class TrainingView:
    """The part of a graph that the holder trains on and predicts for; nodes in no part of the split are not read.

    Attributes:
        graph: The whole graph, whose number of nodes is public.
        features: The features of all nodes.
        labels: The labels of training nodes, -1 elsewhere.
        members: The training nodes, which are protected.
        unprotected_nodes: The validation and test nodes, to which nothing is promised.
        classes: The number of classes.
        axes: The public axes that the features are coordinates on; None where they are as given.
    """

    graph: Graph
    features: sp.csr_array | NDArray[np.float32]
    labels: NDArray[np.int64]
    members: NDArray[np.bool_]
    unprotected_nodes: NDArray[np.bool_]
    classes: int
    axes: PublicAxes | None = None

    @classmethod
    def of(cls, graph: Graph, owner: str) -> TrainingView:
        """Return the training view of a graph, without any label of a node outside training.

        Args:
            graph: A graph with features, a schema, labels and a split, and without edge weights.
            owner: The system that an error names.
        """
        features, schema, labels, split = as_graph(graph, owner).require(
            "features", "schema", "labels", "split", owner=owner
        )
        if graph.weighted:
            raise InvalidData(
                f"{owner} reads edges, and no weights on them; this graph has some. Go without them: "
                "graph.replace(adjacency=(graph.adjacency != 0).astype('float32'))."
            )
        members = split.train & (labels >= 0)
        if not members.any():
            raise InvalidData(f"{owner} found no labelled training node. Give the training nodes labels.")
        unprotected = split.validation | split.test
        return cls(graph, features, np.where(members, labels, -1), members, unprotected, schema.classes)

    @property
    def num_nodes(self) -> int:
        """The paper's N: all nodes of the whole graph, a public number."""
        return self.graph.num_nodes

    def among_unprotected(self) -> sp.csr_array:
        """Return the edges with two unprotected ends, over all N nodes: all that a prediction may use."""
        inside = sp.diags_array(self.unprotected_nodes.astype(np.float32), format="csr")
        kept = sp.csr_array(inside @ self.graph.adjacency @ inside)
        kept.eliminate_zeros()
        return kept

    def unprotected_graph(self) -> sp.csr_array:
        """Return the same edges over the unprotected nodes alone, in order."""
        nodes = np.flatnonzero(self.unprotected_nodes)
        return sp.csr_array(self.among_unprotected()[nodes][:, nodes])

    def stays_sparse(self) -> bool:
        """Tell whether examples are to be kept sparse; only unprotected nodes decide, so that it betrays nobody."""
        nodes = np.flatnonzero(self.unprotected_nodes)[:_LOOKED_AT]
        if isinstance(self.features, np.ndarray) or not len(nodes):
            return False
        return bool(self.features[nodes].nnz < _SPARSE * len(nodes) * self.features.shape[1])

    @cached_property
    def table(self) -> FeatureTable:
        """The features on a grid that unprotected nodes choose."""
        return FeatureTable.of(sp.csr_array(self.features), self.unprotected_nodes)

    def aggregated(self, weights: sp.csr_array, *, sparse: bool) -> SparseRows | NDArray[np.float32]:
        """Return standardised weighted sums of nodes' features, one for each row of weights.

        Args:
            weights: The weight of each node in each row.
            sparse: True to keep sparse rows sparse, and not to multiply them out.
        """
        if sparse:
            return AggregatedRows.standardised(weights, self.table)
        return standardised(weights @ self.features, sparse=False)


def bounded_listeners(adjacency: sp.csr_array, most: int, *, both: bool = False) -> sp.csr_array:
    """Drop edges until at most ``most`` nodes listen to any node, and with ``both`` none listens to more.

    The choice is a public one (a fixed seed) over the edges of the whole graph; it never looks at who takes part.
    """
    by_source = few_neighbours(sp.csr_array(adjacency.T), most, SeededBits(0))
    kept = sp.csr_array(by_source.T)
    kept.sort_indices()
    kept = few_neighbours(kept, most, SeededBits(1)) if both else kept
    kept.data.fill(1.0)
    return kept


def unit_sums(
    features: sp.csr_array | NDArray[np.float32], adjacency: sp.csr_array, nodes: NDArray[np.bool_], most: int
) -> GridSum:
    """Sum unit-norm features over each selected node and its selected, degree-bounded neighbours, exactly.

    Args:
        features: The features of all nodes.
        adjacency: The edges of the whole graph.
        nodes: A mask of the selected nodes.
        most: The bound on neighbours and listeners, chosen over the whole graph.
    """
    kept = bounded_listeners(adjacency, most, both=True)
    inside = sp.csr_array(kept[nodes][:, nodes]) + sp.eye_array(int(nodes.sum()), format="csr")
    rows, unit = unit_rows_on_grid(features[nodes])
    return GridSum(np.asarray((inside.astype(np.int64) @ rows).toarray()), unit)


def standardised(rows: sp.csr_array | NDArray[np.float32], *, sparse: bool) -> SparseRows | NDArray[np.float32]:
    """Subtract each row's own mean and divide by its own deviation; nothing is shared between rows.

    Args:
        sparse: True to keep sparse rows sparse.
    """
    if not sparse or isinstance(rows, np.ndarray):
        return standardised_dense(dense_rows(rows))
    width, counts = rows.shape[1], np.diff(rows.indptr)
    data = rows.data.astype(np.float64)
    owner = np.repeat(np.arange(len(counts)), counts)
    mean = np.bincount(owner, data, len(counts)) / width
    squares = np.bincount(owner, (data - mean[owner]) ** 2, len(counts)) + (width - counts) * mean**2
    scale = 1.0 / (np.sqrt(squares / width) + 1e-6)
    values = (data * scale[owner]).astype(np.float32)
    return SparseRows(sp.csr_array((values, rows.indices, rows.indptr), shape=rows.shape), -mean * scale)


def standardised_dense(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Do the same for dense rows."""
    with np.errstate(over="ignore", invalid="ignore"):  # a warning would tell of somebody
        centred = rows - rows.mean(axis=1, keepdims=True)
        deviation = np.sqrt((centred * centred).mean(axis=1))  # a row's sum does not depend on the number of rows
        return np.asarray(centred / (deviation[:, None] + 1e-6), dtype=np.float32)


def beside_aggregates(
    own: sp.csr_array | NDArray[np.float32], aggregates: Sequence[NDArray[np.floating]]
) -> NDArray[np.float32]:
    """Put nodes' own features and aggregates over their neighbours side by side, each part standardised by row.

    Args:
        own: The nodes' features.
        aggregates: As many rows of each aggregate.
    """
    parts = dense_rows(own), *(each.astype(np.float32) for each in aggregates)
    return np.concatenate([standardised_dense(part) for part in parts], axis=1)


def dense_rows(matrix: sp.csr_array | NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a batch of rows as an array."""
    return np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), dtype=np.float32)
