"""Passes of examples through a network in blocks of one size, so that an example's numbers do not depend on the others.

Matrix kernels may treat the last rows of a block otherwise than the first, and small blocks otherwise than large ones.
Blocks therefore always have the same size, the last one being filled up with zeros, and :func:`stable_block` finds a
size at which the kernels treat all rows alike.
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

__all__ = [
    "BLOCK",
    "AggregatedLayer",
    "Layer",
    "Loss",
    "aggregated_blocks",
    "blocks",
    "row_losses",
    "stable_block",
]

Loss = Callable[[Tensor, Tensor], Tensor]
Array = NDArray[np.float64]

BLOCK = 512
"""The largest number of rows in a block."""
_ELEMENTWISE = (nn.ELU, nn.Identity, nn.ReLU, nn.SELU, nn.Tanh)


class Layer(NamedTuple):
    """A linear layer's part in a block: each example's input h, its slope g = dL/dz, and |h|² + 1."""

    inputs: Array | SparseRows
    slopes: Array
    squares: Array


class AggregatedLayer(NamedTuple):
    """The same of a first layer with aggregated inputs h = s (y - m 1): of y the sum and |y|² are enough."""

    scales: Array
    means: Array
    sums: Array
    sizes: Array
    slopes: Array
    squares: Array
    width: int


def row_losses(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the cross-entropy of each row."""
    return cross_entropy(logits, labels, reduction="none")


def blocks(
    network: nn.Sequential, x: Tensor | SparseRows, labels: Tensor, loss: Loss, block: int
) -> Iterator[list[Layer]]:
    """Yield the layers of each block of examples; rows after the last example have slopes of zero.

    Args:
        network: Linear layers with bias and element-wise functions, ending in a linear layer.
        x: The examples, one a row.
        labels: The class of each example.
        loss: Maps outputs and labels to one loss for each row.
        block: The number of rows in a block.
    """
    for start in range(0, len(x), block):
        rows, target = x[start : start + block], labels[start : start + block]
        whole = rows.padded(block) if isinstance(rows, SparseRows) else _padded(rows, block)
        known, slopes = _slopes(network, whole, _padded(target, block), len(target), loss)
        yield [_layer(h, g) for h, g in zip(known, slopes, strict=True)]


def aggregated_blocks(
    network: nn.Sequential, x: AggregatedRows, labels: Tensor, loss: Loss, block: int
) -> Iterator[tuple[AggregatedLayer, list[Layer]]]:
    """Yield the first layer and the others of each block of aggregated examples.

    They go through the first layer all at once, since it treats every row alone.

    Args:
        network: Linear layers with bias and element-wise functions, beginning and ending with a linear layer.
        x: The examples, one a row.
        labels: The class of each example.
        loss: Maps outputs and labels to one loss for each row.
        block: The number of rows in a block.
    """
    size = -(-len(x) // block) * block
    first, target = _padded(x.map(_first(network)), size), _padded(labels, size)
    known_numbers = x.scales, x.means, x.sums, x.squares, x.square_norms()
    numbers = [np.pad(each, (0, size - len(x))) for each in known_numbers]
    for start in range(0, size, block):
        part = slice(start, start + block)
        known, slopes = _slopes(network, first[part], target[part], len(x) - start, loss, mapped=True)
        scales, means, sums, sizes, squares = (each[part] for each in numbers)
        others = [_layer(h, g) for h, g in zip(known[1:], slopes[1:], strict=True)]
        yield AggregatedLayer(scales, means, sums, sizes, slopes[0], squares + 1, x.shape[1]), others


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
    hidden = rows.requires_grad_() if mapped and isinstance(rows, Tensor) else rows
    for layer in network:
        if isinstance(layer, nn.Linear) and layer.bias is not None:
            inputs.append(hidden)
            if isinstance(hidden, SparseRows):
                hidden = hidden.map(layer).requires_grad_()
            elif outputs or not mapped:
                hidden = _linear(layer, hidden)
            outputs.append(hidden)
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
