"""Passes of examples through a network in blocks of one size, so that an example's numbers do not depend on the others.

Matrix kernels may treat the last rows of a block otherwise than the first, and small blocks otherwise than large ones.
Blocks therefore always have the same size, the last one being filled up with zeros, and
:func:`privet.models.clipping.stable_block` finds a size at which the kernels treat all rows alike. What follows on a
pass is done element by element and rounded correctly, so that places do not matter there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.linalg import vector_norm
from torch.nn.functional import cross_entropy

from privet.errors import InvalidParameter
from privet.models.clipping.aggregated import AggregatedRows
from privet.models.clipping.products import even_product
from privet.models.clipping.rows import SparseRows

__all__ = [
    "BLOCK",
    "GROUP",
    "AggregatedLayer",
    "Layer",
    "Loss",
    "Pass",
    "aggregated_layers_of",
    "first_layer",
    "layers_of",
    "linear_layers",
    "one_pass",
    "row_losses",
]

Loss = Callable[[Tensor, Tensor], Tensor]
Array = NDArray[np.float64]

BLOCK = 512
"""The largest number of rows in a block."""
GROUP = 4096
"""The number of examples with sparse inputs whose layers are held at once."""
_DENSE_GROUP = 1024  # the same where the inputs themselves want to stay in a cache
_ELEMENTWISE = (nn.ELU, nn.Identity, nn.ReLU, nn.SELU, nn.Tanh)


class Layer(NamedTuple):
    """The inputs and gradients of a linear layer z = W h + b for a group of examples.

    Attributes:
        inputs: h, one row for each example.
        slopes: g = dL/dz, one row for each example.
        squares: |h|² + 1 for each example, rounded up.
        steepness: |g|² for each example, rounded up.
    """

    inputs: Tensor | SparseRows
    slopes: Tensor
    squares: Array
    steepness: Array


class AggregatedLayer(NamedTuple):
    """The same for a first layer with aggregated inputs h = s (y - m 1); the sum of y and |y|² say all about them."""

    rows: AggregatedRows
    slopes: Tensor
    squares: Array
    steepness: Array


class Pass(NamedTuple):
    """A linear layer's part in one block: inputs, slopes, and their norms in the network's precision.

    A first layer whose outputs came as rows has those as inputs.
    """

    inputs: Tensor
    slopes: Tensor
    input_norms: Tensor
    slope_norms: Tensor


def row_losses(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the cross-entropy of each row."""
    return cross_entropy(logits, labels, reduction="none")


def layers_of(
    network: nn.Sequential, x: Tensor | SparseRows, labels: Tensor, loss: Loss, block: int
) -> Iterator[list[Layer]]:
    """Yield the layers of a group of examples after another.

    Args:
        network: Linear layers with bias and element-wise functions, ending in a linear layer.
        x: The examples, one a row.
        labels: The class of each example.
        loss: Maps outputs and labels to one loss for each row.
        block: The number of rows that go through the network at once.
    """
    group = GROUP if isinstance(x, SparseRows) else max(_DENSE_GROUP, block)
    for start in range(0, len(x), group):
        rows, target = x[start : start + group], labels[start : start + group]
        sent = rows.map(first_layer(network)) if isinstance(rows, SparseRows) else rows
        yield _joined(rows, _passes(network, sent, target, loss, block, mapped=sent is not rows))


def aggregated_layers_of(
    network: nn.Sequential, x: AggregatedRows, labels: Tensor, loss: Loss, block: int
) -> Iterator[tuple[AggregatedLayer, list[Layer]]]:
    """Yield the first layer and the others of a group of aggregated examples after another.

    They go through the first layer all at once, since it treats every row alone.

    Args:
        network: Linear layers with bias and element-wise functions, beginning and ending with a linear layer.
        x: The examples, one a row.
        labels: The class of each example.
        loss: Maps outputs and labels to one loss for each row.
        block: The number of rows that go through the network at once.
    """
    first = x.map(first_layer(network))
    for start in range(0, len(x), GROUP):
        part = slice(start, start + GROUP)
        begin, *others = _joined(first[part], _passes(network, first[part], labels[part], loss, block, mapped=True))
        rows = x[part]
        yield AggregatedLayer(rows, begin.slopes, rows.square_norms() + 1, begin.steepness), others


def _passes(
    network: nn.Sequential, rows: Tensor, labels: Tensor, loss: Loss, block: int, mapped: bool
) -> list[list[Pass]]:
    """Send the rows through the network, a block of one size after another."""
    found = []
    for start in range(0, len(rows), block):
        part, target = (_padded(each[start : start + block], block) for each in (rows, labels))
        found.append(one_pass(network, part, target, loss, mapped=mapped))
    return found


@torch.no_grad()
def one_pass(network: nn.Sequential, rows: Tensor, labels: Tensor, loss: Loss, *, mapped: bool = False) -> list[Pass]:
    """Send one block through the network, forwards and backwards.

    Args:
        network: As for :func:`layers_of`.
        rows: The rows of the block.
        labels: The class of each row.
        loss: As for :func:`layers_of`.
        mapped: True if the rows are the first layer's outputs and not its inputs.
    """
    steps, logits = _forward(network, rows, mapped)
    slopes = _loss_slopes(logits, labels, loss)
    found: list[Pass] = []
    for number, (layer, before, after) in reversed(list(enumerate(steps))):
        if not isinstance(layer, nn.Linear):
            slopes = _slopes_before(layer, before, after, slopes)
            continue
        found.append(Pass(before, slopes, vector_norm(before, dim=1), vector_norm(slopes, dim=1)))
        if number:
            slopes = even_product(slopes, layer.weight)
    return found[::-1]


def _loss_slopes(logits: Tensor, labels: Tensor, loss: Loss) -> Tensor:
    """Return the gradient of each row's loss in its outputs; that of the cross-entropy in closed form."""
    if loss is row_losses:
        return logits.softmax(1).scatter_add_(1, labels[:, None], logits.new_full((len(logits), 1), -1.0))
    with torch.enable_grad():
        last = logits.requires_grad_()
        losses = loss(last, labels)
    return torch.autograd.grad(losses, last, torch.ones_like(losses))[0]


def _slopes_before(layer: nn.Module, before: Tensor, after: Tensor, slopes: Tensor) -> Tensor:
    """Return the gradients in the inputs of an element-wise layer, of usual ones from its outputs."""
    kind, backward = type(layer), torch.ops.aten  # a layer of another class may compute something else
    found: Any = None
    if kind is nn.ELU and (alpha := cast(nn.ELU, layer).alpha) >= 0:
        found = backward.elu_backward(slopes, alpha, 1, 1, True, after)
    elif kind is nn.ReLU:
        found = backward.threshold_backward(slopes, after, 0)
    elif kind is nn.Tanh:
        found = backward.tanh_backward(slopes, after)
    if found is not None:
        return cast(Tensor, found)
    with torch.enable_grad():
        again = before.detach().clone().requires_grad_()
        return torch.autograd.grad(layer(again + 0), again, slopes)[0]


def _joined(rows: Tensor | SparseRows, passes: list[list[Pass]]) -> list[Layer]:
    """Put the blocks of a group together, without the rows that fill up the last one."""
    layers = []
    for number, parts in enumerate(zip(*passes, strict=True)):
        count = len(rows)
        slopes = _concatenated([part.slopes for part in parts])[:count]
        inputs = rows if not number else _concatenated([part.inputs for part in parts])[:count]
        if isinstance(inputs, SparseRows):
            squares = inputs.square_norms()
        else:
            norms = _concatenated([part.input_norms for part in parts])[:count]
            squares = _squares_above(norms, inputs.shape[1])
        steepness = _squares_above(_concatenated([part.slope_norms for part in parts])[:count], slopes.shape[1])
        layers.append(Layer(inputs, slopes, squares + 1, steepness))
    return layers


def _concatenated(parts: list[Tensor]) -> Tensor:
    """Put rows together; those of one block alone are not copied."""
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _squares_above(norms: Tensor, columns: int) -> Array:
    """Return numbers of at least the true squared norms, whatever rounding took from them.

    A norm of n numbers is computed with at least 24 bits. Rounding the squares, their sum in whatever order and its
    root takes less than (n + 4) 2^-24 of the square; numbers so small that their squares vanish add n 2^-120 at most.
    """
    return np.asarray(norms.double().numpy() ** 2 * (1 + (columns + 4) * 2.0**-23) + columns * 2.0**-120)


def linear_layers(network: nn.Sequential) -> list[nn.Linear]:
    """Return the linear layers of a network."""
    return [layer for layer in network if isinstance(layer, nn.Linear)]


_Step = tuple[nn.Module, Tensor, Tensor]
"""A layer, its input and its output."""


def _forward(network: nn.Sequential, rows: Tensor, mapped: bool) -> tuple[list[_Step], Tensor]:
    """Return every layer with its input and output, and the outputs; ``mapped`` rows are those of the first layer."""
    steps: list[_Step] = []
    hidden = rows
    for layer in network:
        before = hidden
        if isinstance(layer, nn.Linear) and layer.bias is not None:
            if not mapped or steps:  # the columns of a network's own inputs, which may be many, are taken as they are
                hidden = even_product(before, layer.weight.T, narrow=bool(steps)).add_(layer.bias)
        elif isinstance(layer, _ELEMENTWISE):
            hidden = layer(before.clone() if getattr(layer, "inplace", False) else before)
        else:
            expected = "of linear layers with bias and element-wise functions, which treat each example alone"
            raise InvalidParameter("network", expected, type(layer).__name__)
        steps.append((layer, before, hidden))
    if not steps or not isinstance(steps[-1][0], nn.Linear):
        raise InvalidParameter("A network for clipped gradients must be one ending in a linear layer. Append one.")
    return steps, hidden


def first_layer(network: nn.Sequential) -> nn.Linear:
    """Return the linear layer that a network begins with."""
    if not isinstance(network[0], nn.Linear):
        expected = "a linear layer first, where examples are sparse"
        raise InvalidParameter("network", expected, type(network[0]).__name__)
    return network[0]


def _padded(rows: Tensor, block: int) -> Tensor:
    """Fill a block up with zeros."""
    return torch.cat([rows, rows.new_zeros(block - len(rows), *rows.shape[1:])]) if len(rows) < block else rows
