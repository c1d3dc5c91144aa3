"""Edges with a value of their own: the products that attention, link scores and trained graphs are made of.

With P(v) the N x N matrix that holds v_e at edge e = (i, j), the products are each other's gradients:

- ``weighted_sum(v, X)`` = P(v) X, whose gradient is dot(G, X) in v and P(v)ᵀ G in X;
- ``dot(L, R)_e`` = L_i · R_j, whose gradient is P(g) R in L and P(g)ᵀ L in R;
- ``endpoint_sum(l, r)_e`` = l_i + r_j = dot([l, 1], [1, r]), whose gradient is P(g) 1 in l and P(g)ᵀ 1 in r.

All run over CSR arrays, forward and backward: no scatter, and no temporary of E x F.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx
from torch.nn.functional import pad

from privet.errors import InvalidData
from privet.graph import spmm
from privet.graph.csr import csr_tensor

__all__ = ["Edges", "WeightedEdges"]

_VECTOR = 8  # columns; torch's sampled product is up to ten times slower on fewer than a vector register holds


@dataclass(frozen=True, eq=False)
class Edges:
    """E edges (i, j) in row order; edge values are vectors of E numbers in that order.

    Attributes:
        offsets: The place of each row's first edge, and E last.
        columns: Each edge's j.
        rows: Each edge's i.
        transposed_offsets: The same as ``offsets`` for the transposed edges (j, i).
        transposed_columns: Each transposed edge's i.
        transposed_order: The place of each transposed edge among the edges.
        rank: The place of each pair that was given: values in the given order are ``values[rank]``.
    """

    offsets: Tensor
    columns: Tensor
    rows: Tensor
    transposed_offsets: Tensor
    transposed_columns: Tensor
    transposed_order: Tensor
    rank: Tensor

    @classmethod
    def from_pairs(cls, pairs: Tensor, num_nodes: int) -> Edges:
        """Make the edges of pairs of nodes; duplicates are kept.

        Args:
            pairs: A 2 x E tensor of node numbers, in any order.
            num_nodes: The number of nodes.

        >>> edges = Edges.from_pairs(torch.tensor([[1, 0, 0], [2, 1, 2]]), num_nodes=3)
        >>> edges.rows.tolist(), edges.columns.tolist(), edges.rank.tolist()
        ([0, 0, 1], [1, 2, 2], [2, 0, 1])
        """
        _check_pairs(pairs, num_nodes)
        order = torch.argsort(pairs[0], stable=True)
        # 32-bit numbers where they suffice: half the memory, and the products need not convert them.
        index = torch.int32 if max(num_nodes, order.numel()) <= torch.iinfo(torch.int32).max else torch.int64
        rows, columns = pairs[:, order].to(index)
        transposed_order = torch.argsort(columns, stable=True).to(index)
        return cls(
            offsets=_offsets(rows, num_nodes),
            columns=columns,
            rows=rows,
            transposed_offsets=_offsets(columns, num_nodes),
            transposed_columns=rows.index_select(0, transposed_order),
            transposed_order=transposed_order,
            rank=torch.argsort(order).to(index),
        )

    @classmethod
    def from_csr(cls, matrix: Tensor) -> Edges:
        """Make the edges of the stored places of a matrix, whatever its values.

        Args:
            matrix: A square CSR tensor.
        """
        offsets, columns = matrix.crow_indices().long(), matrix.col_indices().long()
        rows = torch.repeat_interleave(offsets.diff())
        return cls.from_pairs(torch.stack([rows, columns]), matrix.shape[0])

    @property
    def num_nodes(self) -> int:
        """The number of nodes, N."""
        return self.offsets.numel() - 1

    @property
    def num_edges(self) -> int:
        """The number of edges, E."""
        return self.columns.numel()

    def weighted_sum(self, values: Tensor, x: Tensor) -> Tensor:
        """Compute Σ_e v_e x_j over the edges e = (i, j) of each node i; differentiable in both.

        Args:
            values: v, one number for each edge.
            x: One row for each node.
        """
        return cast(Tensor, _WeightedSum.apply(values, x, self))  # type: ignore[no-untyped-call]

    def dot(self, left: Tensor, right: Tensor) -> Tensor:
        """Compute left_i · right_j for each edge (i, j); differentiable in both.

        Args:
            left: One row for each node.
            right: One row for each node.
        """
        return cast(Tensor, _Dot.apply(left, right, self))  # type: ignore[no-untyped-call]

    def endpoint_sum(self, left: Tensor, right: Tensor) -> Tensor:
        """Compute left_i + right_j for each edge (i, j); differentiable in both.

        Args:
            left: One number for each node.
            right: One number for each node.
        """
        return cast(Tensor, _EndpointSum.apply(left, right, self))  # type: ignore[no-untyped-call]

    def max(self, x: Tensor) -> Tensor:
        """Compute the largest x_j over the edges of each node i, 0 where it has none; not differentiable.

        Args:
            x: One row for each node.
        """
        ones = torch.ones(self.num_edges, dtype=x.dtype)
        return cast(Tensor, torch.sparse.mm(self._matrix(ones), x.detach().contiguous(), "amax"))

    def _matrix(self, values: Tensor) -> Tensor:
        return _csr(self.offsets, self.columns, values)

    def _transposed(self, values: Tensor) -> Tensor:
        return _csr(self.transposed_offsets, self.transposed_columns, values.index_select(0, self.transposed_order))

    def _sampled(self, left: Tensor, right: Tensor) -> Tensor:
        zeros = torch.zeros(self.num_edges, dtype=left.dtype)
        missing = max(0, _VECTOR - left.shape[1])
        left, right = pad(left, (0, missing)).contiguous(), pad(right, (0, missing)).contiguous()
        product: Tensor = torch.sparse.sampled_addmm(self._matrix(zeros), left, right.T)
        return product.values()


class _WeightedSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, values: Tensor, x: Tensor, edges: Edges) -> Tensor:
        ctx.save_for_backward(values, x)
        ctx.edges = edges  # type: ignore[attr-defined]
        return spmm(edges._matrix(values), x.contiguous())

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        values, x = ctx.saved_tensors
        by_values, by_x, _ = ctx.needs_input_grad
        gradient = gradient.contiguous()
        return (
            ctx.edges._sampled(gradient, x) if by_values else None,
            spmm(ctx.edges._transposed(values), gradient) if by_x else None,
            None,
        )


class _Dot(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, left: Tensor, right: Tensor, edges: Edges) -> Tensor:
        ctx.save_for_backward(left, right)
        ctx.edges = edges  # type: ignore[attr-defined]
        return edges._sampled(left, right)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        left, right = ctx.saved_tensors
        by_left, by_right, _ = ctx.needs_input_grad
        return (
            spmm(ctx.edges._matrix(gradient), right.contiguous()) if by_left else None,
            spmm(ctx.edges._transposed(gradient), left.contiguous()) if by_right else None,
            None,
        )


class _EndpointSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, left: Tensor, right: Tensor, edges: Edges) -> Tensor:
        ctx.edges = edges  # type: ignore[attr-defined]
        return left.contiguous().index_select(0, edges.rows) + right.contiguous().index_select(0, edges.columns)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        ones = gradient.new_ones(ctx.edges.num_nodes, 1)
        by_left, by_right, _ = ctx.needs_input_grad
        return (
            spmm(ctx.edges._matrix(gradient), ones).squeeze(1) if by_left else None,
            spmm(ctx.edges._transposed(gradient), ones).squeeze(1) if by_right else None,
            None,
        )


@dataclass(frozen=True, eq=False)
class WeightedEdges:
    """P(v) as an operator, differentiable in its values too: a graph whose edges are trained.

    Attributes:
        edges: The places.
        values: v, one number for each edge.

    >>> graph = WeightedEdges(Edges.from_pairs(torch.tensor([[0, 1], [1, 0]]), num_nodes=2), torch.tensor([0.5, 2.0]))
    >>> graph @ torch.tensor([[1.0], [10.0]])
    tensor([[5.],
            [2.]])
    """

    edges: Edges
    values: Tensor

    def __matmul__(self, x: Tensor) -> Tensor:
        return self.edges.weighted_sum(self.values, x)


def _csr(offsets: Tensor, columns: Tensor, values: Tensor) -> Tensor:
    return csr_tensor(offsets, columns, values.contiguous(), (offsets.numel() - 1,) * 2)


def _offsets(rows: Tensor, num_nodes: int) -> Tensor:
    counts = torch.bincount(rows, minlength=num_nodes)
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)]).to(rows.dtype)


def _check_pairs(pairs: Tensor, num_nodes: int) -> None:
    if pairs.dim() != 2 or pairs.shape[0] != 2 or pairs.dtype != torch.int64:
        raise InvalidData("node pairs", "an int64 tensor of 2 x E", f"{pairs.dtype} of shape {tuple(pairs.shape)}")
    outside = ((pairs < 0) | (pairs >= num_nodes)).any(0).nonzero()
    if outside.numel():
        pair = int(outside[0])
        raise InvalidData(f"node pair {pair}", f"numbers from 0 to {num_nodes - 1}", pairs[:, pair].tolist())
