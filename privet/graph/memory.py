"""A topology in this process's memory, and the way from anything with an adjacency to a topology."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from privet.graph.csr import normalised as normalised_matrix
from privet.graph.filter import Filter
from privet.graph.operators import GraphLike, Operator, gcn_operator
from privet.graph.topology import Aggregation, Topology

__all__ = ["MemoryAggregation", "MemoryTopology", "topology_of"]


def topology_of(graph: GraphLike) -> Topology:
    """Return the topology of a graph or of an adjacency matrix; a topology is returned as it is.

    Args:
        graph: A graph, a square sparse adjacency matrix or a topology.
    """
    if isinstance(graph, Topology):
        return graph
    adjacency: Any = getattr(graph, "adjacency", graph)
    return adjacency if isinstance(adjacency, Topology) else MemoryTopology(sp.csr_array(adjacency))


@dataclass(frozen=True, eq=False)
class MemoryAggregation(Aggregation):
    """A normalised adjacency in memory.

    Attributes:
        operator: The sparse operator.
    """

    operator: Operator

    def polynomial(self, x: NDArray[Any], coefficients: Sequence[float]) -> NDArray[np.float32]:
        """Compute sum_l coefficients[l] M^l x, in single precision."""
        columns = torch.from_numpy(np.ascontiguousarray(x, dtype=np.float32))
        return np.asarray((Filter(self.operator, tuple(coefficients)) @ columns).numpy())


@dataclass(frozen=True, eq=False)
class MemoryTopology(Topology):
    """An adjacency in memory; each normalisation is computed once.

    Attributes:
        adjacency: The adjacency, whose memory is shared.
    """

    adjacency: sp.csr_array

    enumerable = True

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, N and N."""
        return int(self.adjacency.shape[0]), int(self.adjacency.shape[1])

    @property
    def nnz(self) -> int:
        """The number of entries; an undirected edge between two nodes has two."""
        return int(self.adjacency.nnz)

    @cached_property
    def degrees(self) -> NDArray[np.float32]:
        """The sum of each row."""
        return np.asarray(self.adjacency.sum(axis=1), dtype=np.float32).ravel()

    def __matmul__(self, x: NDArray[Any]) -> NDArray[Any]:
        """Compute A x for a vector or a matrix with one row for each node."""
        return np.asarray(self.adjacency @ x)

    def diagonal(self) -> NDArray[np.float32]:
        """Return the weight of each node's loop."""
        return np.asarray(self.adjacency.diagonal(), dtype=np.float32)

    @cached_property
    def mean_matrix(self) -> sp.csr_array:
        """D^-1 A in single precision."""
        return normalised_matrix(self.adjacency, -1.0, None, np.float32)

    @cached_property
    def symmetric_matrix(self) -> sp.csr_array:
        """D^-1/2 A D^-1/2 in single precision."""
        return normalised_matrix(self.adjacency, -0.5, -0.5, np.float32)

    def mean(self) -> MemoryAggregation:
        """Return the mean over neighbours, D^-1 A."""
        return MemoryAggregation(Operator.from_scipy(self.mean_matrix))

    def symmetric(self) -> MemoryAggregation:
        """Return D^-1/2 A D^-1/2 of the adjacency as it is."""
        return MemoryAggregation(Operator.from_scipy(self.symmetric_matrix))

    def gcn(self, *, self_loops: bool) -> MemoryAggregation:
        """Return D^-1/2 A D^-1/2 with a loop at every node, or with none."""
        return MemoryAggregation(gcn_operator(self.adjacency, self_loops=self_loops))

    def spectral(self, *, normalised: bool) -> sp.csr_array:
        """Return A, or D^-1/2 A D^-1/2, as SciPy's eigensolvers take it."""
        return self.symmetric_matrix if normalised else self.adjacency.astype(np.float32)

    def digest(self) -> str:
        """Return a digest of all entries."""
        mark = hashlib.sha256()
        for array in (self.adjacency.indptr, self.adjacency.indices, self.adjacency.data):
            mark.update(np.ascontiguousarray(array).tobytes())
        return mark.hexdigest()

    def matrix(self, purpose: str) -> sp.csr_array:
        """Return A."""
        return self.adjacency

    def loaded(self) -> MemoryTopology:
        """Return the topology itself."""
        return self
