"""Uses of parameters in a forward pass over many sub-graphs, recorded so that each sub-graph's gradient can be told.

One forward and one backward pass serve a whole chunk. While the module runs, operations on its parameters are recorded:

    linear, matmul           the input and the output: the gradient of a sub-graph is the sum of outer products of its
                             rows' output gradients and inputs
    +, -, *, /, layer_norm   each row gets a copy of the parameter, and a copy's gradient is that of its row

Anything else that is done to a parameter is :class:`Unserved`. Dropout draws from each sub-graph's own key.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.functional import pad

from privet.models.subgraphs.dropout import KeyedDropout, KindsOfRows

__all__ = ["Capture", "OuterUse", "Unserved", "wide_linear"]

_ROWWISE: dict[Any, Any] = {
    **dict.fromkeys([torch.add, Tensor.add, Tensor.__add__, Tensor.__radd__, Tensor.__iadd__], torch.add),
    **dict.fromkeys([torch.mul, Tensor.mul, Tensor.__mul__, Tensor.__rmul__, Tensor.__imul__], torch.mul),
    **dict.fromkeys([torch.sub, Tensor.sub, Tensor.__sub__], torch.sub),
    **dict.fromkeys([torch.div, Tensor.div, Tensor.__truediv__], torch.div),
}
_PRODUCTS = (torch.matmul, torch.mm, Tensor.matmul, Tensor.mm, Tensor.__matmul__)


class Unserved(Exception):
    """A parameter was used in a way for which no closed form is known."""


class OuterUse(NamedTuple):
    """A product of rows and a matrix.

    Attributes:
        weight: The number of the matrix among the parameters.
        bias: The number of the vector that is added, or None.
        transposed: True if the matrix has inputs in its rows.
        inputs: The rows.
        output: The product.
    """

    weight: int
    bias: int | None
    transposed: bool
    inputs: Tensor
    output: Tensor


class Capture(KeyedDropout):
    """Record the uses of parameters within a ``with`` block.

    Args:
        values: The number of each parameter and the value to compute with, by the ``id`` of the parameter.
        kinds: The lane and the place of each row, by the number of rows.
        keys: The seed of each lane's dropout.
    """

    def __init__(self, values: dict[int, tuple[int, Tensor]], kinds: KindsOfRows, keys: Tensor) -> None:
        super().__init__(kinds, keys)
        self.values = values
        self.outer: list[OuterUse] = []
        self.copies: list[tuple[int, Tensor]] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not any(self._known(each) for each in (*args, *kwargs.values())):
            return super().__torch_function__(func, types, args, kwargs)
        if func is functional.linear:
            return self._linear(*args, **kwargs)
        if func in _PRODUCTS and len(args) == 2 and not self._known(args[0]):
            return self._product(args[0], args[1], None, transposed=True)
        if func in _ROWWISE and len(args) == 2 and not kwargs:
            return self._rowwise(_ROWWISE[func], *args)
        if func is functional.layer_norm:
            return self._layer_norm(*args, **kwargs)
        found = func(*args, **kwargs)
        if isinstance(found, Tensor) and found.requires_grad:
            raise Unserved(getattr(func, "__name__", str(func)))
        return found  # a shape, a type, ...

    def _known(self, value: Any) -> bool:
        return isinstance(value, nn.Parameter) and id(value) in self.values

    def _check_rows(self, rows: Any) -> None:
        if not isinstance(rows, Tensor) or rows.dim() == 0 or len(rows) not in self.kinds:
            raise Unserved("rows that are neither nodes nor edges")

    def _linear(self, rows: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        if not self._known(weight) or (bias is not None and not self._known(bias)):
            raise Unserved("a linear layer of which a part is frozen")
        return self._product(rows, weight, bias, transposed=False)

    def _product(self, rows: Tensor, weight: Tensor, bias: Tensor | None, *, transposed: bool) -> Tensor:
        self._check_rows(rows)
        if rows.dim() != 2 or weight.dim() != 2:
            raise Unserved("a product of more than two dimensions")
        number, matrix = self.values[id(weight)]
        place, added = (None, None) if bias is None else self.values[id(bias)]
        output = wide_linear(rows, matrix.t() if transposed else matrix, added)
        output = output if output.requires_grad else output.requires_grad_()
        self.outer.append(OuterUse(number, place, transposed, rows.detach(), output))
        return output

    def _rowwise(self, func: Any, left: Any, right: Any) -> Any:
        rows = right if self._known(left) else left
        self._check_rows(rows)
        if self._known(rows):
            raise Unserved("an operation between two parameters")
        return func(*(self._copied(each, rows) if self._known(each) else each for each in (left, right)))

    def _copied(self, parameter: Tensor, rows: Tensor) -> Tensor:
        """Return a copy of the parameter for each row."""
        number, value = self.values[id(parameter)]
        if value.dim() == rows.dim() and len(value) == 1:
            value = value[0]
        if value.dim() >= rows.dim():
            raise Unserved("a parameter with a number for each row")
        between = [1] * (rows.dim() - 1 - value.dim())
        copies = value.expand(len(rows), *value.shape).reshape(len(rows), *between, *value.shape).contiguous()
        self.copies.append((number, copies.requires_grad_()))
        return copies

    def _layer_norm(self, rows: Tensor, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
        scaled = functional.layer_norm(rows, shape, None, None, eps)
        for func, part in ((torch.mul, weight), (torch.add, bias)):
            if part is not None:
                scaled = self._rowwise(func, scaled, part) if self._known(part) else func(scaled, part)
        return scaled


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
