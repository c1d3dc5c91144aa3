"""A stored adjacency that NumPy arrays are multiplied with, for code that knows nothing of clusters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data.store.files import seal
from privet.errors import InvalidParameter
from privet.graph.distributed.graph import ClusterGraph
from privet.graph.distributed.operators import ClusterOperator
from privet.graph.distributed.scales import Normalisation

__all__ = ["ClusterAdjacency", "ClusterRows"]


class ClusterAdjacency:
    """The adjacency of a stored graph, as :class:`privet.graph.topology.Elsewhere` describes it.

    A product writes the columns to the scratch directory, lets the workers compute one hop, and reads the result: this
    process holds rows for all nodes of the columns, and never an entry of the adjacency.

    Args:
        graph: The stored graph and its workers.
        normalisation: The scales around its entries; none by default.
    """

    dtype = np.dtype(np.float32)

    def __init__(self, graph: ClusterGraph, normalisation: Normalisation | None = None) -> None:
        self._operator = ClusterOperator(graph, normalisation or Normalisation(0.0, 0.0, "stored"))

    def __repr__(self) -> str:
        return f"ClusterAdjacency({self.shape[0]} nodes, {self.nnz} entries)"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._operator.shape

    @property
    def nnz(self) -> int:
        """The number of entries."""
        return self._operator.nnz

    @property
    def operator(self) -> ClusterOperator:
        """The same map for columns on disk."""
        return self._operator

    def __matmul__(self, x: NDArray[Any]) -> NDArray[Any]:
        """Multiply with a vector or a matrix, in double precision if it has it and in single precision otherwise."""
        array = np.asarray(x)
        if array.ndim not in (1, 2) or len(array) != self.shape[1]:
            expected = f"a vector or matrix of {self.shape[1]} rows"
            raise InvalidParameter("x", expected, f"shape {array.shape}")
        kind = array.dtype if array.dtype == np.float64 else np.dtype(np.float32)
        columns = self._operator.graph.columns(array.astype(kind, copy=False))
        product = self._operator @ columns
        result = product.numpy()
        for each in (columns, product):
            each.close()
        return result[:, 0] if array.ndim == 1 else result

    def __getitem__(self, rows: NDArray[np.integer[Any]]) -> ClusterRows:
        """Return some rows, which can be multiplied with in their turn."""
        return ClusterRows(self, rows)

    @cached_property
    def _degrees(self) -> NDArray[np.float32]:
        return self @ np.ones(self.shape[0], np.float32)

    def sum(self, axis: int) -> NDArray[np.float32]:
        """Return the sum of each row.

        Args:
            axis: 1.
        """
        if axis != 1:
            raise InvalidParameter("axis", "1", axis)
        return self._degrees

    def diagonal(self) -> NDArray[np.float32]:
        """Return 1 for each node that has a loop, and 0 for the others."""
        store = self._operator.graph.store
        result = np.zeros(store.num_nodes, np.float32)
        for number in range(store.num_partitions):
            partition = store.partition(number)
            if partition.loops is not None:
                result[partition.ids[partition.loops]] = 1.0
        return result

    def mean(self) -> ClusterAdjacency:
        """Return the mean over neighbours, D^-1 A."""
        return self._scaled(Normalisation(-1.0, 0.0, "stored"))

    def symmetric(self, *, self_loops: bool = False) -> ClusterAdjacency:
        """Return D^-1/2 A D^-1/2.

        Args:
            self_loops: True to add a loop at every node that has none.
        """
        return self._scaled(Normalisation(-0.5, -0.5, "every" if self_loops else "stored"))

    def _scaled(self, normalisation: Normalisation) -> ClusterAdjacency:
        return ClusterAdjacency(self._operator.graph, normalisation)

    def digest(self) -> str:
        """Return the checksum of the store's manifest, which has the checksums of all files."""
        folder = self._operator.graph.store.path
        return seal(folder / "store.json", folder).sha256

    def tocsr(self) -> sp.csr_array:
        """Load all entries into this process's memory, in the order of ids."""
        return self._operator.graph.store.adjacency()


@dataclass(frozen=True, eq=False)
class ClusterRows:
    """Some rows of a stored adjacency.

    Attributes:
        adjacency: The whole.
        rows: The ids of the rows.
    """

    adjacency: ClusterAdjacency
    rows: NDArray[np.integer[Any]]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.rows), self.adjacency.shape[1]

    def __matmul__(self, x: NDArray[Any]) -> NDArray[Any]:
        """Multiply with a vector or a matrix."""
        return np.asarray((self.adjacency @ x)[self.rows])
