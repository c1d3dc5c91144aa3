"""Polynomials of an operator: K hops, or a weighted sum over hops such as personalised PageRank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch

from privet.errors import InvalidParameter
from privet.graph.csr import to_scipy
from privet.graph.operators import Operator

__all__ = ["Filter"]


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
        """p(A) x for a vector or matrix."""
        *lower, highest = self.coefficients
        result = x if highest == 1.0 else highest * x
        for coefficient in reversed(lower):
            result = self.operator @ result
            if coefficient:
                result = torch.add(result, x, alpha=coefficient)
        return result

    def sparse(self, x: sp.csr_array) -> sp.csr_array:
        """p(A) x for a sparse matrix, kept sparse."""
        matrix = to_scipy(self.operator.matrix)
        *lower, highest = self.coefficients
        result = highest * x
        for coefficient in reversed(lower):
            result = matrix @ result + coefficient * x if coefficient else matrix @ result
        return sp.csr_array(result)
