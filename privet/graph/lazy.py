"""Features that are never written out: sparse reports, one scale and offset a column, and hops still to do.

The N x d matrix stands for

    X = p_k(A_k) ... p_1(A_1) (S diag(scale) + u offset^T),        u = (1, ..., 1),

with S the sparse reports and each p a polynomial of an operator. A linear layer needs only

    X W = p_k(A_k) ... p_1(A_1) (S (scale * W)) + (p_k(A_k) ... p_1(A_1) u) (offset W),

whose first term costs reports and edges times the hidden width and whose second is of rank one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from privet.errors import InvalidData, InvalidParameter
from privet.graph.operators import Operator
from privet.mechanisms.affine import AffineFeatures

__all__ = ["Filter", "LazyFeatures"]


@dataclass(frozen=True, eq=False)
class Filter:
    """The polynomial p(A) = sum_l coefficients[l] A^l, applied by Horner's rule: one product a degree."""

    operator: Operator
    coefficients: tuple[float, ...]

    @classmethod
    def hops(cls, operator: Operator, hops: int) -> Filter:
        """A^hops."""
        if isinstance(hops, bool) or not isinstance(hops, int | np.integer) or hops < 0:
            raise InvalidParameter("hops", "propagate", "an integer of at least 0", hops)
        return cls(operator, (0.0,) * int(hops) + (1.0,))

    @property
    def degree(self) -> int:
        """The number of sparse products that applying it takes."""
        return len(self.coefficients) - 1

    def __matmul__(self, x: torch.Tensor) -> torch.Tensor:
        *lower, highest = self.coefficients
        result = x if highest == 1.0 else highest * x
        for coefficient in reversed(lower):
            result = self.operator @ result
            if coefficient:
                result = torch.add(result, x, alpha=coefficient)
        return result


@dataclass(frozen=True, eq=False)
class LazyFeatures:
    """An N x d matrix behind sparse reports and filters; see the module for its equation.

    >>> import scipy.sparse as sp, torch
    >>> features = LazyFeatures.from_sparse(sp.csr_array([[1.0, 0.0], [0.0, 2.0]]))
    >>> features @ torch.ones(2, 1)
    tensor([[1.],
            [2.]])
    """

    base: Operator | torch.Tensor
    scale: torch.Tensor | None = None
    offset: torch.Tensor | None = None
    unit: torch.Tensor | None = None
    filters: tuple[Filter, ...] = ()
    selected: torch.Tensor | None = field(default=None, repr=False)

    @classmethod
    def from_affine(cls, affine: AffineFeatures) -> LazyFeatures:
        """The view of what a mechanism's ``estimate`` returned."""
        offset = _vector(affine.offset) if np.any(affine.offset) else None
        return cls(Operator.from_scipy(affine.symbols), _vector(affine.scale), offset)

    @classmethod
    def from_sparse(cls, features: sp.csr_array) -> LazyFeatures:
        """Plain sparse features."""
        return cls(Operator.from_scipy(sp.csr_array(features)))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows (nodes) and columns (features)."""
        rows = self.base.shape[0] if self.selected is None else self.selected.shape[0]
        return int(rows), int(self.base.shape[1])

    def __matmul__(self, weight: torch.Tensor) -> torch.Tensor:
        """X W, differentiable in W, without an N x d matrix."""
        if weight.ndim != 2 or weight.shape[0] != self.shape[1]:
            raise InvalidParameter("W", "LazyFeatures @ W", f"a matrix of {self.shape[1]} rows", tuple(weight.shape))
        result = self.base @ (weight if self.scale is None else self.scale.unsqueeze(1) * weight)
        for filter_ in self.filters:
            result = filter_ @ result
        if self.offset is not None:
            result = torch.addr(result, self._filtered_unit, self.offset @ weight)
        return result if self.selected is None else result.index_select(0, self.selected)

    def propagate(self, operator: Operator, hops: int) -> LazyFeatures:
        """A^hops X, still lazy."""
        return self.filter(operator, Filter.hops(operator, hops).coefficients)

    def filter(self, operator: Operator, coefficients: Sequence[float]) -> LazyFeatures:
        """(sum_l coefficients[l] A^l) X, still lazy."""
        if self.selected is not None:
            raise InvalidParameter("operator", "LazyFeatures.filter", "applied before rows are selected", "a selection")
        if operator.shape != (self.shape[0], self.shape[0]):
            raise InvalidParameter("operator", "LazyFeatures.filter", f"over {self.shape[0]} nodes", operator.shape)
        return replace(self, filters=(*self.filters, Filter(operator, tuple(coefficients))))

    def rows(self, index: torch.Tensor | NDArray[np.integer]) -> LazyFeatures:
        """Some rows, in the order given; rows of propagated features still cost a full propagation."""
        chosen = torch.as_tensor(index, dtype=torch.int64)
        return replace(self, selected=chosen if self.selected is None else self.selected[chosen])

    def dense(self) -> torch.Tensor:
        """The N x d matrix itself."""
        result = self.base.matrix.to_dense() if isinstance(self.base, Operator) else self.base
        if self.scale is not None:
            result = result * self.scale
        for filter_ in self.filters:
            result = filter_ @ result
        if self.offset is not None:
            result = torch.addr(result, self._filtered_unit, self.offset)
        return result if self.selected is None else result.index_select(0, self.selected)

    @cached_property
    def _filtered_unit(self) -> torch.Tensor:
        """The filters applied to u, computed once."""
        result = torch.ones(self.base.shape[0]) if self.unit is None else self.unit
        for filter_ in self.filters:
            result = filter_ @ result
        return result


def _vector(values: NDArray[np.float64]) -> torch.Tensor:
    if not np.isfinite(values).all():
        column = int(np.argmin(np.isfinite(values)))
        raise InvalidData(f"scale and offset of column {column}", "finite", values[column])
    return torch.from_numpy(np.asarray(values)).to(torch.float32)
