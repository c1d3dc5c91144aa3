"""Polynomials of an operator: K hops, or a weighted sum over hops such as personalised PageRank."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch

from privet.errors import InvalidParameter
from privet.graph.csr import spmm, to_scipy
from privet.graph.operators import Operator, apply
from privet.graph.pages import empty, is_large

__all__ = ["Filter"]


@dataclass(frozen=True, eq=False)
class Filter:
    """The polynomial p(A) = sum_l coefficients[l] A^l, applied by Horner's rule: one product for each degree.

    Attributes:
        operator: A.
        coefficients: The polynomial's coefficients, from the constant on.
    """

    operator: Operator
    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.coefficients or not all(math.isfinite(coefficient) for coefficient in self.coefficients):
            raise InvalidParameter("coefficients", "Filter", "at least one finite number", self.coefficients)

    @classmethod
    def hops(cls, operator: Operator, hops: int) -> Filter:
        """Make the filter A^hops.

        Args:
            operator: A.
            hops: The number of propagations.
        """
        if isinstance(hops, bool) or not isinstance(hops, int | np.integer) or hops < 0:
            raise InvalidParameter("hops", "propagate", "an integer of at least 0", hops)
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
        return Filter(self.operator.T, self.coefficients)

    def __matmul__(self, x: torch.Tensor) -> torch.Tensor:
        """Compute p(A) x for a vector or matrix, differentiable in x."""
        return apply(self, x)

    def evaluate(self, x: torch.Tensor) -> torch.Tensor:
        """Compute p(A) x without a gradient. Two buffers take turns: fresh memory can cost as much as a hop.

        Args:
            x: A dense matrix.
        """
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

    def sparse(self, x: sp.csr_array) -> sp.csr_array:
        """Compute p(A) x and keep it sparse.

        Args:
            x: A sparse matrix.
        """
        matrix = to_scipy(self.matrix)
        *lower, highest = self.coefficients
        result = highest * x
        for coefficient in reversed(lower):
            result = matrix @ result + coefficient * x if coefficient else matrix @ result
        return sp.csr_array(result)
