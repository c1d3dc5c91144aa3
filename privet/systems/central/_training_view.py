"""The holder's side of a graph: protected training nodes, unprotected nodes, and nobody else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data import Graph
from privet.errors import InvalidData
from privet.graph.subgraphs import few_neighbours
from privet.mechanisms import SeededBits

__all__ = ["TrainingView", "bounded_listeners", "dense_rows", "standardised", "unit_sums"]


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
    """

    graph: Graph
    features: sp.csr_array | NDArray[np.float32]
    labels: NDArray[np.int64]
    members: NDArray[np.bool_]
    unprotected_nodes: NDArray[np.bool_]
    classes: int

    @classmethod
    def of(cls, graph: Graph, owner: str) -> TrainingView:
        """Return the training view of a graph, without any label of a node outside training.

        Args:
            graph: A graph with features, a schema, labels and a split.
            owner: The system that an error names.
        """
        if graph.features is None or graph.schema is None or graph.labels is None or graph.split is None:
            missing = [n for n in ("features", "schema", "labels", "split") if getattr(graph, n) is None]
            raise InvalidData(f"graph given to {owner}", "with features, schema, labels, split", missing)
        members = graph.split.train & (graph.labels >= 0)
        if not members.any():
            raise InvalidData(f"training nodes given to {owner}", "labelled, at least one of them", "none that is")
        labels = np.where(members, graph.labels, -1)
        unprotected = graph.split.validation | graph.split.test
        return cls(graph, graph.features, labels, members, unprotected, graph.schema.classes)

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
) -> NDArray[np.float32]:
    """Sum unit-norm features over each selected node and its selected, degree-bounded neighbours.

    Args:
        features: The features of all nodes.
        adjacency: The edges of the whole graph.
        nodes: A mask of the selected nodes.
        most: The bound on neighbours and listeners, chosen over the whole graph.
    """
    kept = bounded_listeners(adjacency, most, both=True)
    inside = sp.csr_array(kept[nodes][:, nodes]) + sp.eye_array(int(nodes.sum()), format="csr")
    rows = sp.csr_array(features[nodes])
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    unit = sp.diags_array(1.0 / np.maximum(norms, 1e-12), format="csr") @ rows
    return dense_rows(sp.csr_array(inside @ unit))


def standardised(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Subtract each row's own mean and divide by its own deviation; nothing is shared between rows."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    deviation = np.sqrt(np.einsum("ij,ij->i", centred, centred) / rows.shape[1])
    return np.asarray(centred / (deviation[:, None] + 1e-6), dtype=np.float32)


def dense_rows(matrix: sp.csr_array | NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a batch of rows as an array."""
    return np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), dtype=np.float32)
