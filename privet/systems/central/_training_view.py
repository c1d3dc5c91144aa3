"""The holder's side of a graph: who is protected, who is not, and rows that nobody else enters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data import Graph
from privet.errors import InvalidData

__all__ = ["HeldGraph", "dense_rows", "standardised"]


@dataclass(frozen=True, eq=False)
class HeldGraph:
    """What the holder trains on. ``members`` are the training nodes, which are protected; ``open_nodes`` are those of
    validation and test, to which nothing is promised. Nodes in no part of the split are not read at all.

    ``labels`` are those of the training nodes, -1 elsewhere.
    """

    graph: Graph
    features: sp.csr_array | NDArray[np.float32]
    labels: NDArray[np.int64]
    members: NDArray[np.bool_]
    open_nodes: NDArray[np.bool_]
    classes: int

    @classmethod
    def of(cls, graph: Graph, owner: str) -> HeldGraph:
        """The graph's training side, without any label of a node outside it."""
        if graph.features is None or graph.schema is None or graph.labels is None or graph.split is None:
            missing = [n for n in ("features", "schema", "labels", "split") if getattr(graph, n) is None]
            raise InvalidData(f"graph given to {owner}", "with features, schema, labels, split", missing)
        members = graph.split.train & (graph.labels >= 0)
        if not members.any():
            raise InvalidData(f"training nodes given to {owner}", "labelled, at least one of them", "none that is")
        labels = np.where(members, graph.labels, -1)
        open_nodes = graph.split.validation | graph.split.test
        return cls(graph, graph.features, labels, members, open_nodes, graph.schema.classes)

    @property
    def num_nodes(self) -> int:
        """The N of the paper: all nodes of the whole graph, a public number."""
        return self.graph.num_nodes

    def among_open(self) -> sp.csr_array:
        """The edges of which both ends are open, over all N nodes: all that a prediction may use."""
        inside = sp.diags_array(self.open_nodes.astype(np.float32), format="csr")
        kept = sp.csr_array(inside @ self.graph.adjacency @ inside)
        kept.eliminate_zeros()
        return kept


def standardised(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row minus its own mean, over its own deviation; nothing is shared between rows."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    deviation = np.sqrt(np.einsum("ij,ij->i", centred, centred) / rows.shape[1])
    return np.asarray(centred / (deviation[:, None] + 1e-6), dtype=np.float32)


def dense_rows(matrix: sp.csr_array | NDArray[np.float32]) -> NDArray[np.float32]:
    """A batch of rows as an array."""
    return np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), dtype=np.float32)
