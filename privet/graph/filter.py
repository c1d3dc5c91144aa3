"""Polynomials of an operator: K hops, or a weighted sum over hops such as personalised PageRank.

Hops are linear in each column, so a wide matrix is taken a few columns at a time: as many as stay in a core's own cache
from one hop to the next. The rows that a hop gathers at random then come from there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from numpy.polynomial.chebyshev import cheb2poly
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee

from privet.errors import InvalidParameter
from privet.graph.csr import empty, is_large, spmm, to_scipy
from privet.graph.operators import Operator, apply

__all__ = ["Basis", "Filter", "local_order"]

Basis: TypeAlias = Literal["powers", "chebyshev"]

_CACHE = 2**20  # bytes of a core's own cache
_NARROWEST = 16  # columns of a block at least: one line of the cache, and A has to be read once for each block
_ENOUGH_HOPS = 3  # hops from which moving the rows there and back pays
_LARGEST = 20_000_000  # entries up to which a second operator is worth its memory
_NEARER = 0.5  # share of the mean distance between neighbours that may be left for a new order to pay
_NEARLY = 8  # times the cache up to which blocks of few columns still pay


@dataclass(frozen=True, eq=False)
class Filter:
    """The polynomial p(A) = sum_l coefficients[l] B_l(A) of A's powers or Chebyshev polynomials B_l.

    Horner's or Clenshaw's rule applies it with one product for each degree. A sum of high degree whose terms cancel is
    accurate in Chebyshev polynomials only, which stay within [-1, 1] where A's eigenvalues do.

    Attributes:
        operator: A.
        coefficients: The polynomial's coefficients, from the constant on.
        basis: "powers" for B_l(A) = A^l, "chebyshev" for B_l = T_l.
        correction: Matrices L and R of few columns whose product L R^T is added to p(A); None for none.
        order: The row of x that each node of the operator and of the correction stands for; None if they are the same.
    """

    operator: Operator
    coefficients: tuple[float, ...]
    basis: Basis = "powers"
    correction: tuple[torch.Tensor, torch.Tensor] | None = None
    order: torch.Tensor | None = None

    def __post_init__(self) -> None:
        if not self.coefficients or not all(math.isfinite(coefficient) for coefficient in self.coefficients):
            raise InvalidParameter("coefficients", "at least one finite number", self.coefficients)

    @classmethod
    def hops(cls, operator: Operator, hops: int) -> Filter:
        """Make the filter A^hops.

        Args:
            operator: A.
            hops: The number of propagations.
        """
        if isinstance(hops, bool) or not isinstance(hops, int | np.integer) or hops < 0:
            raise InvalidParameter("hops", "an integer of at least 0", hops)
        return cls(operator, (0.0,) * int(hops) + (1.0,))

    @property
    def degree(self) -> int:
        """The number of sparse products that applying it takes."""
        return len(self.coefficients) - 1

    @property
    def matrix(self) -> torch.Tensor:
        """The operator's matrix, whose shape and type the filter has."""
        return self.operator.matrix

    @property
    def T(self) -> Filter:  # noqa: N802
        """The transposed filter, p(A)^T = p(A^T)."""
        turned = None if self.correction is None else self.correction[::-1]
        return replace(self, operator=self.operator.T, correction=turned)

    def __matmul__(self, x: torch.Tensor) -> torch.Tensor:
        """Compute p(A) x for a vector or matrix, differentiable in x."""
        return apply(self, x)

    def reordered(self) -> Filter:
        """Return the same filter with its nodes in an order whose hops are faster, or itself if there is none.

        Only its inside changes: rows are brought into that order before the first hop and back after the last. That
        pays for a filter of several hops that is applied many times to matrices larger than the cache.
        """
        column = self.matrix.shape[0] * self.matrix.dtype.itemsize
        if self.order is not None or self.degree < _ENOUGH_HOPS or self.operator.nnz > _LARGEST:
            return self
        matrix = to_scipy(self.matrix)
        found = local_order(matrix) if _NARROWEST * column > _CACHE else None
        if found is None:
            return self
        order = torch.from_numpy(found)
        operator = Operator.from_scipy(sp.csr_array(matrix[found][:, found]), self.matrix.dtype)
        moved = None if self.correction is None else (self.correction[0][order], self.correction[1][order])
        return replace(self, operator=operator, correction=moved, order=order)

    def evaluate(self, x: torch.Tensor) -> torch.Tensor:
        """Compute p(A) x without a gradient.

        Args:
            x: A dense matrix.
        """
        if self.order is None:
            return self._by_blocks(x)
        result = empty(x.shape[0], x.shape[1], x.dtype)
        return result.index_copy_(0, self.order, self._by_blocks(x.index_select(0, self.order)))

    def _by_blocks(self, x: torch.Tensor) -> torch.Tensor:
        width = _columns_at_once(x)
        if self.degree < 2 or width >= x.shape[1]:
            return self._evaluate(x)
        result = empty(x.shape[0], x.shape[1], x.dtype)
        for start in range(0, x.shape[1], width):
            block = slice(start, start + width)
            result[:, block] = self._evaluate(x[:, block].contiguous())
        return result

    def _evaluate(self, x: torch.Tensor) -> torch.Tensor:
        """Buffers take turns: fresh memory can cost as much as a hop."""
        result = self._horner(x) if self.basis == "powers" else self._clenshaw(x)
        if self.correction is None:
            return result
        left, right = self.correction
        return torch.addmm(result, left, right.T @ x)

    def _horner(self, x: torch.Tensor) -> torch.Tensor:
        *lower, highest = self.coefficients
        result, spare = x, None
        if highest != 1.0 or (self.degree > 1 and is_large(x)):  # the copy gives large x its huge pages
            result = torch.mul(x, highest, out=empty(x.shape[0], x.shape[1], x.dtype))
        for coefficient in reversed(lower):
            product = spmm(self.matrix, result, out=spare)
            if coefficient:
                product.add_(x, alpha=coefficient)
            result, spare = product, None if result is x else result
        return result

    def _clenshaw(self, x: torch.Tensor) -> torch.Tensor:
        """b_l = c_l x + 2 A b_(l+1) - b_(l+2) from the highest degree down; p(A) x = c_0 x + A b_1 - b_2."""
        *lower, highest = self.coefficients
        above, result = None, x * highest
        for number, coefficient in reversed(list(enumerate(lower))):
            factor = 2.0 if number else 1.0
            if above is None:
                product = spmm(self.matrix, result).mul_(factor)
            else:
                product = torch.addmm(above, self.matrix, result, beta=-1.0, alpha=factor, out=above)
            above, result = result, product.add_(x, alpha=coefficient)
        return result

    def sparse(self, x: sp.csr_array) -> sp.csr_array:
        """Compute p(A) x and keep it sparse (full, if there is a correction).

        Args:
            x: A sparse matrix.
        """
        if self.order is not None:
            back = torch.argsort(self.order).numpy()
            return sp.csr_array(replace(self, order=None).sparse(x[self.order.numpy()])[back])
        matrix = to_scipy(self.matrix)
        powers = self.coefficients if self.basis == "powers" else cheb2poly(self.coefficients)
        *lower, highest = powers
        result = highest * x
        for coefficient in reversed(lower):
            result = matrix @ result + coefficient * x if coefficient else matrix @ result
        if self.correction is not None:
            left, right = (part.numpy() for part in self.correction)
            result = result + left @ np.asarray(x.T @ right).T
        return sp.csr_array(result)


def _columns_at_once(x: torch.Tensor) -> int:
    """Return how many columns a block has: those that stay in the cache, or all where even few would not nearly."""
    column = max(x.shape[0] * x.dtype.itemsize, 1)
    if _NARROWEST * column > _NEARLY * _CACHE:
        return int(x.shape[1])
    return max(_CACHE // column // _NARROWEST, 1) * _NARROWEST


def local_order(adjacency: sp.csr_array) -> NDArray[np.int64] | None:
    """Return the reverse Cuthill-McKee order, or None where neighbours are hardly nearer in it than they were.

    It takes about as long as ten hops of one column. Communities, paths and meshes gain from it; a random graph does
    not.

    Args:
        adjacency: The square adjacency matrix, in which entries may go one way.
    """
    if adjacency.shape[0] < 2 or not adjacency.nnz:
        return None
    order = np.asarray(reverse_cuthill_mckee(sp.csr_matrix(adjacency), symmetric_mode=False)).astype(np.int64)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    rows = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
    before = np.abs(rows - adjacency.indices).mean(dtype=np.float64)
    after = np.abs(place[rows] - place[adjacency.indices]).mean(dtype=np.float64)
    return order if after < _NEARER * before else None
