"""Sparse linear maps over a graph: the normalisations that graph neural networks propagate with.

In every operator row i says what node i receives: it aggregates from the columns stored in row i of the
adjacency. A directed graph that stores an edge i -> j as entry (i, j) therefore lets i listen to j; pass the
transposed adjacency for the other direction. The degree of a node is the sum of its adjacency row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from privet.errors import InvalidData, InvalidParameter
from privet.graph.csr import csr_tensor, normalised, spmm, to_scipy, to_torch, with_loops
from privet.graph.topology import Topology

__all__ = [
    "GraphLike",
    "LinearMap",
    "Operator",
    "adjacency_of",
    "apply",
    "degrees_of",
    "gcn_operator",
    "is_symmetric",
    "mean_operator",
    "pagerank_operator",
    "sum_operator",
]


class HasAdjacency(Protocol):
    """Anything with a square CSR adjacency, such as :class:`privet.data.Graph`."""

    @property
    def adjacency(self) -> sp.csr_array: ...


GraphLike: TypeAlias = "HasAdjacency | sp.sparray | sp.spmatrix | Topology"


@dataclass(frozen=True, eq=False)
class Operator:
    """A sparse linear map over CSR, differentiable in the matrix that it is applied to.

    Attributes:
        matrix: A CSR tensor, square over a graph's nodes.

    >>> import scipy.sparse as sp, torch
    >>> path = sp.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> mean_operator(path, self_loops=False) @ torch.tensor([1.0, 2.0, 3.0])
    tensor([2., 2., 2.])
    """

    matrix: torch.Tensor

    @classmethod
    def from_scipy(cls, matrix: sp.csr_array, dtype: torch.dtype = torch.float32) -> Operator:
        """Make the map of a SciPy matrix.

        Args:
            dtype: The type of the values.
        """
        return cls(to_torch(matrix, dtype))

    @cached_property
    def transpose(self) -> torch.Tensor:
        """The transposed matrix, made when a gradient first needs it; ``matrix`` itself if it is symmetric."""
        original = to_scipy(self.matrix)
        turned = original.T.tocsr()
        if original.shape != turned.shape or not np.array_equal(original.indptr, turned.indptr):
            return to_torch(turned, self.matrix.dtype)
        if not np.array_equal(original.indices, turned.indices):
            return to_torch(turned, self.matrix.dtype)
        if np.array_equal(original.data, turned.data):
            return self.matrix
        # Same pattern (an undirected graph, normalised by rows): only the values need memory of their own.
        values = torch.from_numpy(turned.data)
        return csr_tensor(self.matrix.crow_indices(), self.matrix.col_indices(), values, self.shape)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.matrix.shape[0], self.matrix.shape[1]

    @property
    def num_nodes(self) -> int:
        """The number of rows, that is, of receiving nodes."""
        return int(self.matrix.shape[0])

    @property
    def nnz(self) -> int:
        """The number of stored entries."""
        return int(self.matrix.values().numel())

    @property
    def T(self) -> Operator:  # noqa: N802
        """The transposed map; it shares both matrices with this one."""
        turned = Operator(self.transpose)
        turned.__dict__["transpose"] = self.matrix
        return turned

    def __matmul__(self, x: torch.Tensor) -> torch.Tensor:
        """Apply the map to a vector or to every column of a matrix."""
        return apply(self, x)

    def evaluate(self, x: torch.Tensor) -> torch.Tensor:
        """Apply the map to a matrix's columns, without a gradient.

        Args:
            x: A dense matrix.
        """
        return spmm(self.matrix, x)


class LinearMap(Protocol):
    """A map that :func:`apply` can use: it has a value and a transpose."""

    @property
    def matrix(self) -> torch.Tensor: ...

    @property
    def T(self) -> LinearMap: ...  # noqa: N802

    def evaluate(self, x: torch.Tensor) -> torch.Tensor: ...


def apply(linear: LinearMap, x: torch.Tensor) -> torch.Tensor:
    """Apply a map to a vector or to every column of a matrix, differentiable in x.

    Args:
        linear: The map.
        x: A vector or a matrix.
    """
    matrix = linear.matrix
    if x.ndim not in (1, 2) or x.shape[0] != matrix.shape[1] or x.dtype != matrix.dtype:
        expected = f"a vector or matrix of {matrix.shape[1]} rows and {matrix.dtype}"
        raise InvalidParameter("x", expected, f"{tuple(x.shape)} of {x.dtype}")
    if x.ndim == 1:
        return apply(linear, x.unsqueeze(1)).squeeze(1)
    if not (x.requires_grad and torch.is_grad_enabled()):
        return linear.evaluate(x)
    result: torch.Tensor = _Apply.apply(linear, x)  # type: ignore[no-untyped-call]
    return result


class _Apply(torch.autograd.Function):
    """y = M x with dx = M^T dy; its backward is the same function, so it differentiates any number of times."""

    @staticmethod
    def forward(ctx: Any, linear: LinearMap, x: torch.Tensor) -> torch.Tensor:
        ctx.linear = linear
        return linear.evaluate(x)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[None, torch.Tensor]:
        return None, apply(ctx.linear.T, gradients[0])


def gcn_operator(graph: GraphLike, *, self_loops: bool, dtype: torch.dtype = torch.float32) -> Operator:
    """Make the symmetric normalisation D^-1/2 A D^-1/2.

    Args:
        graph: A graph or a square sparse adjacency matrix.
        self_loops: True adds a loop of weight 1 at every node that has none; False leaves all loops out (KProp's).
        dtype: The type of the values.
    """
    adjacency = with_loops(adjacency_of(graph), self_loops)
    return Operator.from_scipy(normalised(adjacency, -0.5, -0.5), dtype)


def mean_operator(graph: GraphLike, *, self_loops: bool, dtype: torch.dtype = torch.float32) -> Operator:
    """Make the mean over neighbours, D^-1 A.

    Args:
        graph: A graph or a square sparse adjacency matrix.
        self_loops: True adds a loop of weight 1 at every node that has none; False leaves all loops out.
        dtype: The type of the values.
    """
    adjacency = with_loops(adjacency_of(graph), self_loops)
    return Operator.from_scipy(normalised(adjacency, -1.0, None), dtype)


def sum_operator(graph: GraphLike, *, dtype: torch.dtype = torch.float32) -> Operator:
    """Make the sum over neighbours, A as it is (GIN's).

    Args:
        graph: A graph or a square sparse adjacency matrix.
        dtype: The type of the values.
    """
    return Operator.from_scipy(adjacency_of(graph), dtype)


def pagerank_operator(graph: GraphLike, r: float, *, dtype: torch.dtype = torch.float32) -> Operator:
    """Make the operator of personalised PageRank, D^(r-1) A D^(-r).

    Args:
        graph: A graph or a square sparse adjacency matrix.
        r: From 0 to 1: 0 is the row mean, 1/2 the symmetric and 1 the column normalisation.
        dtype: The type of the values.
    """
    if not 0.0 <= r <= 1.0:
        raise InvalidParameter("r", "a number in [0, 1]", r)
    return Operator.from_scipy(normalised(adjacency_of(graph), r - 1.0, -r), dtype)


def adjacency_of(graph: GraphLike) -> sp.csr_array:
    """Return the CSR adjacency of a graph or sparse matrix, checked to be square and finite.

    Args:
        graph: A graph or a square sparse adjacency matrix.
    """
    matrix: Any = graph if sp.issparse(graph) or isinstance(graph, Topology) else getattr(graph, "adjacency", None)
    if isinstance(matrix, Topology):
        matrix = matrix.loaded().adjacency
    if not sp.issparse(matrix):
        raise InvalidParameter("graph", "a Graph or a sparse matrix", type(graph).__name__)
    if matrix.shape[0] != matrix.shape[1]:
        raise InvalidData("adjacency", "square", f"shape {matrix.shape}")
    adjacency = sp.csr_array(matrix)
    if not adjacency.has_canonical_format:
        adjacency = adjacency.copy()
        adjacency.sum_duplicates()
    finite = np.isfinite(adjacency.data)
    if not finite.all():
        entry = int(np.argmin(finite))
        row = int(np.searchsorted(adjacency.indptr, entry, side="right")) - 1
        raise InvalidData(f"adjacency at ({row}, {adjacency.indices[entry]})", "finite", adjacency.data[entry])
    return adjacency


def is_symmetric(adjacency: sp.csr_array) -> bool:
    """Tell whether a matrix equals its transpose, as an undirected graph's adjacency does."""
    return not (adjacency != adjacency.T).nnz


def degrees_of(adjacency: sp.csr_array) -> NDArray[np.float64]:
    """Sum the weights of each row."""
    return np.asarray(adjacency.sum(axis=1, dtype=np.float64)).ravel()
