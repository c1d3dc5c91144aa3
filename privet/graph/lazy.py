"""Features that are never written out: sparse reports, one scale and offset a column, and hops still to do.

The N x d matrix stands for

    X = p_k(A_k) ... p_1(A_1) (S diag(scale) + u offset^T),        u = (1, ..., 1),

with S the sparse reports and each p a polynomial of an operator. A linear layer needs only

    X W = p_k(A_k) ... p_1(A_1) (S (scale * W)) + (p_k(A_k) ... p_1(A_1) u) (offset W),

whose first term costs reports and edges times the hidden width and whose second is of rank one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from privet.errors import InvalidData, InvalidParameter
from privet.graph.csr import to_scipy
from privet.graph.filter import Filter
from privet.graph.operators import Operator
from privet.graph.plan import Plan, plan
from privet.mechanisms.core.affine import AffineFeatures

__all__ = ["LazyFeatures"]


@dataclass(frozen=True, eq=False, repr=False)
class LazyFeatures:
    """An N x d matrix behind sparse reports and filters; see the module for its equation.

    Attributes:
        base: S, sparse as an operator or dense.
        scale: One number for each column; None for 1.
        offset: One number for each column; None for 0.
        unit: u, one number for each row; None for 1.
        filters: The polynomials p_1, ..., p_k of operators that are still to be applied.
        selected: The rows of the result that are wanted, None for all.

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
    selected: torch.Tensor | None = None

    def __repr__(self) -> str:
        hops = f" behind {len(self.filters)} filters" if self.filters else ""
        return f"LazyFeatures({self.shape[0]} x {self.shape[1]}{hops})"

    @classmethod
    def from_affine(cls, affine: AffineFeatures) -> LazyFeatures:
        """Make lazy features of a mechanism's estimate.

        Args:
            affine: The result of the mechanism's ``estimate``.
        """
        offset = _vector(affine.offset) if np.any(affine.offset) else None
        symbols, scale = affine.symbols, _vector(affine.scale).numpy()
        scaled = symbols.data * scale[symbols.indices]  # once here, instead of d x h products at every epoch
        return cls(
            Operator.from_scipy(sp.csr_array((scaled, symbols.indices, symbols.indptr), shape=symbols.shape)),
            None,
            offset,
        )

    @classmethod
    def from_sparse(cls, features: sp.csr_array) -> LazyFeatures:
        """Make lazy features of a sparse matrix.

        Args:
            features: The matrix.
        """
        return cls(Operator.from_scipy(sp.csr_array(features)))

    @classmethod
    def from_dense(cls, features: torch.Tensor) -> LazyFeatures:
        """Make lazy features of a dense matrix, whose propagation is left until after the first linear layer.

        Args:
            features: The matrix.
        """
        return cls(features)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows (nodes) and columns (features)."""
        rows = self.base.shape[0] if self.selected is None else self.selected.shape[0]
        return int(rows), int(self.base.shape[1])

    def __matmul__(self, weight: torch.Tensor) -> torch.Tensor:
        """Compute X W, differentiable in W, without an N x d matrix."""
        if weight.ndim != 2 or weight.shape[0] != self.shape[1]:
            raise InvalidParameter("W", f"a matrix of {self.shape[1]} rows", tuple(weight.shape))
        scaled = weight if self.scale is None else self.scale.unsqueeze(1) * weight
        if self.offset is None:
            result = self._filtered(self.base @ scaled)
        elif self._with_offset is not None:
            product = self._with_offset @ weight
            result = torch.addr(self._filtered(product[:-1]), self._filtered_unit, product[-1])
        else:
            result = torch.addr(self._filtered(self.base @ scaled), self._filtered_unit, self.offset @ weight)
        return result if self.selected is None else result.index_select(0, self.selected)

    def propagate(self, operator: Operator, hops: int) -> LazyFeatures:
        """Return A^hops X, still lazy.

        Args:
            operator: A.
            hops: The number of propagations.
        """
        return self.filter(operator, Filter.hops(operator, hops).coefficients)

    def filter(self, operator: Operator, coefficients: Sequence[float]) -> LazyFeatures:
        """Return (sum_l coefficients[l] A^l) X, still lazy.

        Args:
            operator: A.
            coefficients: The polynomial's coefficients, from the constant on.
        """
        return self.filtered(Filter(operator, tuple(coefficients)))

    def filtered(self, polynomial: Filter) -> LazyFeatures:
        """Return p(A) X, still lazy.

        Args:
            polynomial: p(A).
        """
        operator = polynomial.operator
        if self.selected is not None:
            raise InvalidParameter("These features are a selection of rows. Propagate first, then select rows.")
        if operator.shape != (self.shape[0], self.shape[0]):
            raise InvalidParameter("operator", f"over {self.shape[0]} nodes", operator.shape)
        return replace(self, filters=(*self.filters, polynomial))

    def rows(self, index: torch.Tensor | NDArray[np.integer]) -> LazyFeatures:
        """Return some of the rows, still lazy; propagated features still cost a full propagation.

        Args:
            index: Ids in the wanted order, or a mask.
        """
        chosen = torch.as_tensor(index)
        if chosen.dtype == torch.bool and chosen.shape == (self.shape[0],):
            chosen = chosen.nonzero().squeeze(1)
        if chosen.ndim != 1 or chosen.dtype == torch.bool or chosen.is_floating_point() or chosen.is_complex():
            expected = f"ids or a mask over {self.shape[0]} rows"
            found = f"{chosen.dtype} of shape {list(chosen.shape)}"
            raise InvalidParameter("index", expected, found)
        chosen = chosen.to(torch.int64)
        wrong = (chosen < 0) | (chosen >= self.shape[0])
        if wrong.any():
            position = int(wrong.int().argmax())
            expected = f"a node from 0 to {self.shape[0] - 1}"
            raise InvalidParameter(f"index[{position}]", expected, int(chosen[position]))
        if self.filters:
            return replace(self, selected=chosen if self.selected is None else self.selected[chosen])
        unit = None if self.unit is None else self.unit[chosen]
        if isinstance(self.base, Operator):
            return replace(self, base=Operator.from_scipy(to_scipy(self.base.matrix)[chosen.numpy()]), unit=unit)
        return replace(self, base=self.base[chosen], unit=unit)

    def plan(self, hidden: int, epochs: int) -> Plan:
        """Find the cheaper order of the first layer; see :mod:`privet.graph.plan`.

        Args:
            hidden: The width of the first layer.
            epochs: The number of epochs to train for.
        """
        hops = sum(filter_.degree for filter_ in self.filters)
        products = sum(filter_.degree * filter_.operator.nnz for filter_ in self.filters)
        nnz = self.base.nnz if isinstance(self.base, Operator) else self.base.numel()
        return plan(self.base.shape[0], nnz, self.shape[1], hidden, hops, products // max(hops, 1), epochs)

    def planned(self, hidden: int, epochs: int) -> LazyFeatures:
        """Return the same features in the form that trains fastest.

        Args:
            hidden: The width of the first layer.
            epochs: The number of epochs to train for.
        """
        chosen = self.plan(hidden, epochs)
        if chosen.choice == "lazy":
            return replace(self, filters=tuple(each.reordered() for each in self.filters))
        return self.materialise(dense=chosen.dense)

    def materialise(self, *, dense: bool) -> LazyFeatures:
        """Apply the filters to S itself; scale and offset stay lazy.

        Args:
            dense: True to keep the result as a dense matrix, False as a sparse one.
        """
        base: Operator | torch.Tensor
        if dense:
            base = self._filtered(self.base.matrix.to_dense() if isinstance(self.base, Operator) else self.base)
        else:
            stored = to_scipy(self.base.matrix) if isinstance(self.base, Operator) else sp.csr_array(self.base.numpy())
            for filter_ in self.filters:
                stored = filter_.sparse(stored)
            base = Operator.from_scipy(stored)
        done = replace(self, base=base, unit=self._filtered_unit, filters=(), selected=None)
        return done if self.selected is None else done.rows(self.selected)

    def dense(self) -> torch.Tensor:
        """Write the N x d matrix out."""
        result = self.base.matrix.to_dense() if isinstance(self.base, Operator) else self.base.clone()
        result = self._filtered(result if self.scale is None else result.mul_(self.scale))
        if self.offset is not None:
            result = torch.addr(result, self._filtered_unit, self.offset)
        return result if self.selected is None else result.index_select(0, self.selected)

    @cached_property
    def _with_offset(self) -> Operator | None:
        """Sparse S with the offset as one more row: its gradient then comes out of the same product."""
        if self.offset is None or self.scale is not None or not isinstance(self.base, Operator):
            return None
        last = sp.csr_array(self.offset.numpy()[None])
        return Operator.from_scipy(sp.csr_array(sp.vstack([to_scipy(self.base.matrix), last], format="csr")))

    @cached_property
    def _filtered_unit(self) -> torch.Tensor:
        """The filters applied to u, computed once."""
        with torch.inference_mode(False):  # kept for training even if an evaluation asked first
            return self._filtered(torch.ones(self.base.shape[0]) if self.unit is None else self.unit)

    def _filtered(self, x: torch.Tensor) -> torch.Tensor:
        for filter_ in self.filters:
            x = filter_ @ x
        return x


def _vector(values: NDArray[np.float64]) -> torch.Tensor:
    if not np.isfinite(values).all():
        column = int(np.argmin(np.isfinite(values)))
        raise InvalidData(f"scale and offset of column {column}", "finite", values[column])
    return torch.from_numpy(np.asarray(values)).to(torch.float32)
