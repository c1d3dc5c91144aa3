"""The topology of a stored graph: products of NumPy arrays, computed by the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from privet.data.store.files import seal
from privet.errors import InvalidData, InvalidParameter
from privet.graph.distributed.columns import Columns
from privet.graph.distributed.graph import ClusterGraph
from privet.graph.distributed.operators import ClusterOperator, gcn_operator, sum_operator
from privet.graph.distributed.propagation import polynomial
from privet.graph.distributed.scales import Normalisation
from privet.graph.memory import MemoryTopology
from privet.graph.topology import Aggregation, Topology

__all__ = ["StoredAggregation", "StoredRowSelection", "StoredTopology"]


class StoredTopology(Topology):
    """The adjacency of a stored graph.

    A product writes the columns to the scratch directory, lets the workers compute one hop, and reads the result: this
    process holds rows for all nodes of the columns, and never an entry of the adjacency.

    Args:
        graph: The stored graph and its workers.
    """

    enumerable = False
    dtype = np.dtype(np.float32)

    def __init__(self, graph: ClusterGraph) -> None:
        self.graph = graph
        self._sum = sum_operator(graph)

    def __repr__(self) -> str:
        return f"StoredTopology({self.num_nodes} nodes, {self.nnz} entries)"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, N and N."""
        return self._sum.shape

    @property
    def nnz(self) -> int:
        """The number of entries; an undirected edge between two nodes has two."""
        return self._sum.nnz

    @cached_property
    def degrees(self) -> NDArray[np.float32]:
        """The sum of each row."""
        return self @ np.ones(self.num_nodes, np.float32)

    def __matmul__(self, x: NDArray[Any]) -> NDArray[Any]:
        """Compute A x, in double precision if x has it and in single precision otherwise."""
        return _product(self._sum, x)

    def __getitem__(self, rows: NDArray[np.integer[Any]]) -> StoredRowSelection:
        """Return some rows, which can be multiplied with in their turn."""
        return StoredRowSelection(self, rows)

    def diagonal(self) -> NDArray[np.float32]:
        """Return 1 for each node that has a loop, and 0 for the others."""
        store = self.graph.store
        result = np.zeros(store.num_nodes, np.float32)
        for number in range(store.num_partitions):
            partition = store.partition(number)
            if partition.loops is not None:
                result[partition.ids[partition.loops]] = 1.0
        return result

    def mean(self) -> StoredAggregation:
        """Return the mean over neighbours, D^-1 A."""
        return self._normalised(Normalisation(-1.0, 0.0, "stored"))

    def symmetric(self) -> StoredAggregation:
        """Return D^-1/2 A D^-1/2 of the adjacency as it is."""
        return self._normalised(Normalisation(-0.5, -0.5, "stored"))

    def gcn(self, *, self_loops: bool) -> StoredAggregation:
        """Return D^-1/2 A D^-1/2 with a loop at every node, or with none."""
        return StoredAggregation(gcn_operator(self.graph, self_loops=self_loops))

    def _normalised(self, normalisation: Normalisation) -> StoredAggregation:
        return StoredAggregation(ClusterOperator(self.graph, normalisation))

    def spectral(self, *, normalised: bool) -> LinearOperator:
        """Return A, or D^-1/2 A D^-1/2, as SciPy's eigensolvers take it."""
        product = partial(_product, self.symmetric().operator if normalised else self._sum)
        return LinearOperator(self.shape, matvec=product, matmat=product, dtype=np.float64)

    def digest(self) -> str:
        """Return the checksum of the store's manifest, which has the checksums of all files."""
        folder = self.graph.store.path
        return seal(folder / "store.json", folder).sha256

    def matrix(self, purpose: str) -> sp.csr_array:
        """Refuse: the entries lie in a store."""
        raise InvalidData(
            f"{purpose} needs every friendship in memory, and this graph is in a store: run without a cluster."
        )

    def loaded(self) -> MemoryTopology:
        """Load all entries into this process's memory, in the order of ids."""
        return MemoryTopology(self.graph.store.adjacency())


@dataclass(frozen=True, eq=False)
class StoredAggregation(Aggregation):
    """A normalised adjacency in a store.

    Attributes:
        operator: The same map for columns on disk.
    """

    operator: ClusterOperator

    def polynomial(self, x: NDArray[Any], coefficients: Sequence[float]) -> NDArray[np.float32]:
        """Compute sum_l coefficients[l] M^l x, in single precision."""
        return _computed(
            self.operator, np.asarray(x, np.float32), lambda columns: polynomial(columns, self.operator, coefficients)
        )


def _product(operator: ClusterOperator, x: NDArray[Any]) -> NDArray[Any]:
    """Compute one hop, in double precision if x has it and in single precision otherwise."""
    array = np.asarray(x)
    return _computed(
        operator, array.astype(array.dtype if array.dtype == np.float64 else np.float32, copy=False), operator.hop
    )


def _computed(operator: ClusterOperator, array: NDArray[Any], compute: Callable[[Columns], Columns]) -> NDArray[Any]:
    """Write an array to the scratch directory, compute with it there, and read the result."""
    if array.ndim not in (1, 2) or len(array) != operator.num_nodes:
        raise InvalidParameter("x", f"a vector or matrix of {operator.num_nodes} rows", f"of shape {array.shape}")
    columns = operator.graph.columns(array)
    product = compute(columns)
    result = product.numpy()
    for each in (columns, product):
        each.close()
    return result[:, 0] if array.ndim == 1 else result


@dataclass(frozen=True, eq=False)
class StoredRowSelection:
    """Some rows of a stored adjacency.

    Attributes:
        adjacency: The whole.
        rows: The ids of the rows.
    """

    adjacency: StoredTopology
    rows: NDArray[np.integer[Any]]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.rows), self.adjacency.shape[1]

    def __matmul__(self, x: NDArray[Any]) -> NDArray[Any]:
        """Multiply with a vector or a matrix."""
        return np.asarray((self.adjacency @ x)[self.rows])
