"""One interface to a public topology, whether its entries lie in this process's memory or in a store.

:class:`privet.graph.memory.MemoryTopology` and :class:`privet.graph.distributed.StoredTopology` implement it, and
:func:`privet.graph.memory.topology_of` makes one of whatever a caller has. Systems and estimation ask a topology for
products with a few columns, for degrees and for normalisations, and do not know which kind they have.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

if TYPE_CHECKING:
    from privet.graph.memory import MemoryTopology

__all__ = ["Aggregation", "Topology"]


class Aggregation(ABC):
    """A normalised adjacency M: row i says what node i receives from others in one hop."""

    @abstractmethod
    def polynomial(self, x: NDArray[Any], coefficients: Sequence[float]) -> NDArray[np.float32]:
        """Compute sum_l coefficients[l] M^l x, in single precision.

        Args:
            x: A vector or matrix with one row for each node.
            coefficients: The polynomial's coefficients, from the constant on.
        """

    def __matmul__(self, x: NDArray[Any]) -> NDArray[np.float32]:
        """Compute M x in single precision."""
        return self.polynomial(x, (0.0, 1.0))

    def hops(self, x: NDArray[Any], hops: int) -> NDArray[np.float32]:
        """Compute M^hops x in single precision.

        Args:
            x: A vector or matrix with one row for each node.
            hops: The number of hops.
        """
        return self.polynomial(x, (*[0.0] * hops, 1.0))


class Topology(ABC):
    """A public square adjacency A of N nodes.

    ``shape``, ``nnz``, ``diagonal()`` and ``@`` are those of a SciPy matrix, so that a graph can hold either.

    Attributes:
        enumerable: True if this process can look at every entry; otherwise :meth:`matrix` refuses.
    """

    enumerable: bool

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows and columns, N and N."""

    @property
    @abstractmethod
    def nnz(self) -> int:
        """The number of entries; an undirected edge between two nodes has two."""

    @property
    @abstractmethod
    def degrees(self) -> NDArray[np.float32]:
        """The sum of each row."""

    @property
    def num_nodes(self) -> int:
        """The number of nodes, N."""
        return self.shape[0]

    @abstractmethod
    def __matmul__(self, x: NDArray[Any]) -> NDArray[Any]:
        """Compute A x for a vector or a matrix with one row for each node."""

    @abstractmethod
    def diagonal(self) -> NDArray[np.float32]:
        """Return the weight of each node's loop."""

    @abstractmethod
    def mean(self) -> Aggregation:
        """Return the mean over neighbours, D^-1 A."""

    @abstractmethod
    def symmetric(self) -> Aggregation:
        """Return D^-1/2 A D^-1/2 of the adjacency as it is."""

    @abstractmethod
    def gcn(self, *, self_loops: bool) -> Aggregation:
        """Return D^-1/2 A D^-1/2 with a loop at every node, or with none.

        Args:
            self_loops: True adds a loop of weight 1 at every node that has none; False leaves all loops out.
        """

    @abstractmethod
    def spectral(self, *, normalised: bool) -> Any:
        """Return A, or D^-1/2 A D^-1/2, as SciPy's eigensolvers take it.

        Args:
            normalised: True for D^-1/2 A D^-1/2.
        """

    @abstractmethod
    def digest(self) -> str:
        """Return a digest of all entries."""

    @abstractmethod
    def matrix(self, purpose: str) -> sp.csr_array:
        """Return A for something that looks at every entry, or refuse in one sentence if it is not in memory.

        Args:
            purpose: Who looks, for the error, such as "The defence trim".
        """

    @abstractmethod
    def loaded(self) -> MemoryTopology:
        """Return the same topology in memory, loading it whole if it is not there yet."""
