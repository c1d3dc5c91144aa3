"""Passes of examples through a network in blocks of one size, so that an example's numbers do not depend on the others.

Matrix kernels may treat the last rows of a block otherwise than the first, and small matrices otherwise than large ones.
Blocks therefore always have the same size, the last one being filled up with zeros, and :func:`stable_block` finds a size
at which the kernels treat all rows alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear, pad

from privet.errors import InvalidParameter
from privet.models.aggregated import AggregatedRows
from privet.models.rows import Rows, SparseRows

__all__ = ["BLOCK", "Layer", "Loss", "Moments", "blocks", "row_losses", "stable_block"]

Loss = Callable[[Tensor, Tensor], Tensor]
Array = NDArray[np.float64]

BLOCK = 256
"""The largest number of rows in a block."""
_ELEMENTWISE = (nn.ELU, nn.Identity, nn.ReLU, nn.SELU, nn.Tanh)


class Moments(NamedTuple):
    """Stands for aggregated inputs h = s (y - m 1): each example's s, m, sum of entries of y and |y|², and the width."""

    scales: Array
    means: Array
    sums: Array
    squares: Array
    width: int


class Layer(NamedTuple):
    """A linear layer's part in a block: each example's input h, its slope g = dL/dz, and |h|² + 1."""

    inputs: Array | SparseRows | Moments
    slopes: Array
    squares: Array


def row_losses(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the cross-entropy of each row."""
    return cross_entropy(logits, labels, reduction="none")


def blocks(network: nn.Sequential, x: Rows, labels: Tensor, loss: Loss, block: int) -> Iterator[list[Layer]]:
    """Yield the layers of each block of examples; rows after the last example have slopes of zero.

    Args:
        network: Linear layers with bias and element-wise functions, ending in a linear layer.
        x: The examples, one a row. Aggregated ones go through the first layer all at once, which treats rows alone.
        labels: The class of each example.
        loss: Maps outputs and labels to one loss for each row.
        block: The number of rows in a block.
    """
    first = x.map(_first(network)) if isinstance(x, AggregatedRows) else None
    norms = x.square_norms() if isinstance(x, AggregatedRows) else None
    for start in range(0, len(x), block):
        part = slice(start, start + block)
        target, count = _padded(labels[part], block), len(labels[part])
        if isinstance(x, AggregatedRows) and first is not None and norms is not None:
            known, slopes = _slopes(network, _padded(first[part], block), target, count, loss, mapped=True)
            numbers = (_filled(each[part], block) for each in (x.scales, x.means, x.sums, x.squares))
            layers = [Layer(Moments(*numbers, x.shape[1]), slopes[0], _filled(norms[part], block) + 1)]
            known, slopes = known[1:], slopes[1:]
        else:
            rows = x[part]
            whole = rows.padded(block) if isinstance(rows, SparseRows) else _padded(rows, block)
            known, slopes = _slopes(network, whole, target, count, loss)
            layers = []
        yield [*layers, *(_layer(h, g) for h, g in zip(known, slopes, strict=True))]


def stable_block(network: nn.Sequential, x: Rows) -> int:
    """Find a number of rows at which an example's gradient does not depend on its place among them.

    Copies of one row must give equal bits at every place of a block. One row alone always passes.

    Args:
        network: The network.
        x: Examples as wide as those to come; their numbers are not used.
    """
    mapped = isinstance(x, AggregatedRows)
    width = _first(network).out_features if mapped else x.shape[1]
    generator, dtype = torch.Generator().manual_seed(0), next(network.parameters()).dtype
    block = BLOCK
    while block > 1:
        copies = torch.randn(8, 1, width, generator=generator).to(dtype).expand(-1, block, -1)
        labels = torch.zeros(block, dtype=torch.int64)
        tried = (_slopes(network, row.contiguous(), labels, block, row_losses, mapped=mapped) for row in copies)
        if all(_alike(_layer(h, g)) for known, slopes in tried for h, g in zip(known, slopes, strict=True)):
            break
        block //= 2
    return block


def _slopes(
    network: nn.Sequential, rows: Tensor | SparseRows, target: Tensor, count: int, loss: Loss, *, mapped: bool = False
) -> tuple[list[Tensor | SparseRows], list[Array]]:
    """Return the inputs of each linear layer, and the gradients of the first examples' losses in its outputs."""
    inputs, outputs = _forward(network, rows, mapped)
    is_example = torch.arange(len(target)) < count
    slopes = torch.autograd.grad(loss(outputs[-1], target)[is_example].sum(), outputs)
    return inputs, [g.double().numpy() for g in slopes]


def _forward(
    network: nn.Sequential, rows: Tensor | SparseRows, mapped: bool
) -> tuple[list[Tensor | SparseRows], list[Tensor]]:
    """Return the inputs and the outputs of each linear layer; ``mapped`` rows are outputs of the first one."""
    inputs: list[Tensor | SparseRows] = []
    outputs: list[Tensor] = []
    hidden = rows
    for layer in network:
        if isinstance(layer, nn.Linear) and layer.bias is not None:
            inputs.append(hidden)
            if isinstance(hidden, SparseRows):
                hidden = hidden.map(layer).requires_grad_()
            elif not (mapped and not outputs):
                hidden = _linear(layer, hidden)
            outputs.append(hidden if hidden.requires_grad else hidden.requires_grad_())
        elif isinstance(layer, _ELEMENTWISE) and not isinstance(hidden, SparseRows):
            hidden = layer(hidden)
        else:
            expected = "of linear layers with bias and element-wise functions, which treat each example alone"
            raise InvalidParameter("network", "clipped_gradient", expected, type(layer).__name__)
    if not outputs or hidden is not outputs[-1]:
        raise InvalidParameter("network", "clipped_gradient", "ending in a linear layer", "another end")
    return inputs, outputs


def _linear(layer: nn.Linear, rows: Tensor) -> Tensor:
    """Return the layer's output; it and its gradient are computed with a multiple of 16 columns.

    With fewer columns the kernels of common libraries add up in another order at other places of a block.
    """
    out, into = -layer.out_features % 16, -layer.in_features % 16 if rows.requires_grad else 0
    mapped = linear(pad(rows, (0, into)), pad(layer.weight, (0, into, 0, out)), pad(layer.bias, (0, out)))
    return mapped[:, : layer.out_features]


def _first(network: nn.Sequential) -> nn.Linear:
    if not isinstance(network[0], nn.Linear):
        expected = "a linear layer first, where examples are sparse"
        raise InvalidParameter("network", "clipped_gradient", expected, type(network[0]).__name__)
    return network[0]


def _layer(inputs: Tensor | SparseRows, slopes: Array) -> Layer:
    if isinstance(inputs, SparseRows):
        return Layer(inputs, slopes, inputs.square_norms() + 1)
    known = cast(Array, inputs.detach().double().numpy())
    return Layer(known, slopes, np.einsum("ij,ij->i", known, known) + 1)


def _alike(layer: Layer) -> bool:
    """Tell whether all rows are equal to the bit."""
    return all(isinstance(rows, np.ndarray) and bool((rows == rows[:1]).all()) for rows in layer)


def _padded(rows: Tensor, block: int) -> Tensor:
    """Fill a block up with zeros."""
    return torch.cat([rows, rows.new_zeros(block - len(rows), *rows.shape[1:])]) if len(rows) < block else rows


def _filled(numbers: Array, block: int) -> Array:
    return np.pad(numbers, (0, block - len(numbers)))
