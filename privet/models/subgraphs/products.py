"""Products of rows and matrices in a module's forward pass, from which gradients in the matrices follow.

In out = rows @ matrix a sub-graph's gradient in the matrix is the sum of the outer products of its rows and the
gradients in the rows of ``out``. So a *nudge* of zeros is added to ``out``: the gradient in the nudge and the rows are
all that is needed, and the gradient in the matrix is never written out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.functional import pad

from privet.models.subgraphs.dropout import KeyedDropout
from privet.models.subgraphs.isolation import refuse_sight

__all__ = ["Product", "Products", "wide_linear"]

_PRODUCTS = (torch.matmul, torch.mm, Tensor.matmul, Tensor.mm, Tensor.__matmul__)


class Product(NamedTuple):
    """A product of rows and a matrix.

    Attributes:
        number: The number of the matrix.
        transposed: True if the matrix has inputs in its rows.
        shape: The shape of the product, in one sub-graph.
    """

    number: int
    transposed: bool
    shape: torch.Size


class Products(KeyedDropout):
    """Find the products with some matrices within a ``with`` block, and nudge them.

    Args:
        key: The key of dropout.
        matrices: The number of each matrix, by the ``id`` of its tensor.
        nudges: What is added to each product, in the order of computation; None adds nothing.
    """

    def __init__(self, key: Tensor, matrices: dict[int, int], nudges: list[Tensor] | None = None) -> None:
        super().__init__(key)
        self.matrices, self.nudges = matrices, nudges
        self.found: list[Product] = []
        self.rows: list[Tensor] = []
        self.used_otherwise: set[int] = set()
        """The numbers of matrices that are not only in products."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is functional.linear:
            return self._linear(*args, **kwargs)
        if func in _PRODUCTS and len(args) == 2 and id(args[1]) in self.matrices:
            return self._product(args[0], args[1], transposed=True)
        refuse_sight(func)
        made = super().__torch_function__(func, types, args, kwargs)
        if self.nudges is None and not isinstance(made, torch.Size | int | bool | torch.dtype | torch.device):
            self._note(args, kwargs)
        return made

    def _note(self, *values: Any) -> None:
        self.used_otherwise |= {self.matrices[id(each)] for each in _tensors(values) if id(each) in self.matrices}

    def _linear(self, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:  # noqa: A002 as torch has it
        if id(weight) not in self.matrices:
            self._note(input, bias)
            return wide_linear(input, weight, bias)
        self._note(bias)
        made = self._product(input, weight, transposed=False)
        return made if bias is None else made + bias

    def _product(self, rows: Tensor, matrix: Tensor, *, transposed: bool) -> Tensor:
        self._note(rows)
        made = wide_linear(rows, matrix.t() if transposed else matrix)
        place = len(self.found)
        self.found.append(Product(self.matrices[id(matrix)], transposed, made.shape))
        self.rows.append(rows)
        return made if self.nudges is None else made + self.nudges[place]


def _tensors(values: Any) -> Iterator[Tensor]:
    """Yield all tensors in nested arguments."""
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, tuple | list):
        for each in values:
            yield from _tensors(each)
    elif isinstance(values, dict):
        yield from _tensors(list(values.values()))


def wide_linear(rows: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return a linear layer's output, computed with a multiple of 16 columns.

    With fewer columns the kernels of common libraries add up in another order at other places of a matrix.

    Args:
        rows: The inputs.
        weight: The matrix.
        bias: The vector that is added, or None.
    """
    out, into = -weight.shape[0] % 16, -weight.shape[1] % 16 if rows.requires_grad else 0
    wide = functional.linear(
        pad(rows, (0, into)), pad(weight, (0, into, 0, out)), None if bias is None else pad(bias, (0, out))
    )
    return wide[..., : weight.shape[0]]
