"""A public adjacency that is only multiplied with: a SciPy matrix, or one whose entries lie elsewhere.

Estimation asks a topology for products with a few columns, for degrees, and for two normalisations. A CSR matrix in
memory and :class:`privet.graph.distributed.ClusterAdjacency` both answer, so the same code runs on either.
"""

from __future__ import annotations

import hashlib
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["Elsewhere", "Multiplies", "digest_of", "mean_of", "symmetric_of"]


class Multiplies(Protocol):
    """Anything with ``@`` for NumPy arrays of one or two dimensions."""

    def __matmul__(self, x: NDArray[Any], /) -> NDArray[Any]: ...


@runtime_checkable
class Elsewhere(Multiplies, Protocol):
    """An adjacency that is not a matrix in this process's memory; its first attributes are those of a SciPy matrix."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    def nnz(self) -> int:
        """The number of entries."""

    def sum(self, axis: int) -> NDArray[np.float32]:
        """Return the sum of each row, for axis 1."""

    def diagonal(self) -> NDArray[np.float32]:
        """Return the weight of each node's loop."""

    def mean(self) -> Multiplies:
        """Return the mean over neighbours, D^-1 A."""

    def symmetric(self, *, self_loops: bool = False) -> Multiplies:
        """Return D^-1/2 A D^-1/2, with a loop added at every node if ``self_loops``."""

    def digest(self) -> str:
        """Return a digest of the entries."""

    def tocsr(self) -> sp.csr_array:
        """Load the entries into memory, for what needs more than products."""


def mean_of(adjacency: sp.csr_array | Elsewhere) -> Multiplies:
    """Return the mean over neighbours, D^-1 A, for float32 columns.

    Args:
        adjacency: The adjacency.
    """
    if isinstance(adjacency, Elsewhere):
        return adjacency.mean()
    inverse = (1 / np.maximum(adjacency.sum(axis=1), 1)).astype(np.float32)
    entries = (np.repeat(inverse, np.diff(adjacency.indptr)), adjacency.indices, adjacency.indptr)
    mean: Multiplies = sp.csr_array(entries, shape=adjacency.shape)
    return mean


def symmetric_of(adjacency: sp.csr_array | Elsewhere, dtype: type[np.floating[Any]] = np.float32) -> Multiplies:
    """Return D^-1/2 A D^-1/2.

    Args:
        adjacency: The adjacency.
        dtype: The type of the columns to come.
    """
    if isinstance(adjacency, Elsewhere):
        return adjacency.symmetric()
    matrix = adjacency.astype(dtype)
    roots = sp.diags_array(1 / np.sqrt(np.maximum(matrix.sum(axis=1), 1)).astype(dtype), format="csr")
    symmetric: Multiplies = sp.csr_array(roots @ matrix @ roots)
    return symmetric


def digest_of(adjacency: sp.csr_array | Elsewhere) -> str:
    """Return a digest of the pattern.

    Args:
        adjacency: The adjacency.
    """
    if isinstance(adjacency, Elsewhere):
        return adjacency.digest()
    mark = hashlib.sha256()
    for array in (adjacency.indptr, adjacency.indices):
        mark.update(np.ascontiguousarray(array).tobytes())
    return mark.hexdigest()
