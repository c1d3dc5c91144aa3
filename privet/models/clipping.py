"""Clipped sums of per-example gradients without per-example gradients in memory, exact on an integer grid.

Of a linear layer z = W h + b the gradient of one example is the outer product g (h, 1)ᵀ with g = dL/dz, so its squared
norm is |g|² (|h|² + 1) and the sum of clipped gradients is one product of two matrices. A network of such layers and
element-wise functions needs one forward and one backward pass for the whole batch.

The sum that gets noise is an exact integer. Each example's (h, 1) is scaled to norm 1 and rounded to multiples of
2^-19; its g takes that norm in, is clipped, and is rounded to multiples of C 2^-18. Gradients are then multiples of C
2^-37 of norm at most C, which is checked for each, and doubles add them up without rounding, in any order. So
leaving an example out moves the sum by that example's vector and by nothing else, as long as the numbers of the other
examples do not depend on who is in the batch: :func:`stable_block` sees to that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear, pad

from privet.errors import InvalidParameter
from privet.mechanisms.primitives.grid import GridSum
from privet.models.rows import Rows, SparseRows

__all__ = ["clipped_gradient", "perceptron", "stable_block", "summed_gradient"]

Loss = Callable[[Tensor, Tensor], Tensor]
Array = NDArray[np.float64]

_ELEMENTWISE = (nn.ELU, nn.Identity, nn.ReLU, nn.SELU, nn.Tanh)
_INPUT_BITS, _SLOPE_BITS = 19, 18
_WHOLE = 2.0 ** (_INPUT_BITS + _SLOPE_BITS)
_EXACT_ROWS = 2**15  # so many integers up to 2^37 add up to less than 2^53: a double holds the sum
_SHRUNK = 1 - 2.0**-8  # of the norm is left for rounding to the grid
_MARGIN = 1 - 2.0**-30  # of the squared norm is left for rounding of the check itself
_BLOCKS = (256, 128, 64, 32, 16, 8, 4, 2, 1)


def perceptron(in_channels: int, hidden_channels: int, out_channels: int, num_layers: int = 2) -> nn.Sequential:
    """Return linear layers with ELU between them: the network over one aggregated vector."""
    widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
    layers: list[nn.Module] = []
    for number in range(num_layers):
        layers += [nn.ELU()] * (number > 0) + [nn.Linear(widths[number], widths[number + 1])]
    return nn.Sequential(*layers)


def row_losses(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the cross-entropy of each row."""
    return cross_entropy(logits, labels, reduction="none")


def clipped_gradient(
    network: nn.Sequential,
    x: Rows,
    labels: Tensor,
    max_grad_norm: float,
    *,
    loss: Loss = row_losses,
    block: int = _BLOCKS[0],
) -> GridSum:
    """Return sum_i g_i min(1, C / |g_i|), g_i being the gradient of row i's loss in all parameters together.

    Parameters come in the network's order, flattened. An example whose gradient is not finite counts as zero.

    Formal guarantee: the sums of two batches that differ in one example differ by a vector of norm at most C.

    Args:
        network: Linear layers with bias and element-wise functions, ending in a linear layer.
        x: The examples, one a row.
        labels: The class of each example.
        max_grad_norm: C, finite and above 0.
        loss: Maps outputs and labels to one loss for each row (default: the cross-entropy).
        block: The number of rows that go through the network at once, from :func:`stable_block`.
    """
    if not 0 < max_grad_norm < math.inf:
        raise InvalidParameter("max_grad_norm", "clipped_gradient", "a finite number above 0", max_grad_norm)
    total = np.zeros(sum(parameter.numel() for parameter in network.parameters()), dtype=np.int64)
    part, rows = np.zeros_like(total, dtype=np.float64), 0
    for layers in _blocks(network, x, labels, loss, block):
        part += _flat(_rounded(layers, max_grad_norm))
        rows += block
        if rows + block > _EXACT_ROWS:
            total, part, rows = total + part.astype(np.int64), np.zeros_like(part), 0
    return GridSum(total + part.astype(np.int64), max_grad_norm / _WHOLE)


def summed_gradient(
    network: nn.Sequential, x: Rows, labels: Tensor, max_grad_norm: float = math.inf, *, loss: Loss = row_losses
) -> Array:
    """Return the same sum in double precision, for training without noise; the norm may be infinite."""
    total = np.zeros(sum(parameter.numel() for parameter in network.parameters()))
    for layers in _blocks(network, x, labels, loss, _BLOCKS[0]):
        norms = np.sqrt(sum(_squares(slopes) * lengths**2 for _, slopes, lengths in layers))
        factors = _factors(norms, max_grad_norm)
        ones, usable = np.ones(len(norms)), (factors > 0).astype(np.float64)
        total += _flat(
            [
                (_scaled(slopes, factors), inputs if isinstance(inputs, SparseRows) else _scaled(inputs, usable), ones)
                for inputs, slopes, _ in layers
            ]
        )
    return total


def stable_block(network: nn.Sequential, x: Rows) -> int:
    """Find a number of rows at which an example's gradient does not depend on its place among them.

    Matrix kernels may treat the last rows of a block otherwise than the first. Copies of one row must therefore give
    equal bits at every place of a block; blocks always have the same size, and the last one is filled up with zeros.
    One row alone always passes.

    Args:
        network: The network.
        x: Examples as wide as those to come; their numbers are not used.
    """
    generator, dtype = torch.Generator().manual_seed(0), next(network.parameters()).dtype
    for block in _BLOCKS:
        copies = torch.randn(8, 1, x.shape[1], generator=generator).to(dtype).expand(-1, block, -1)
        labels = torch.zeros(block, dtype=torch.int64)
        tried = (layers for row in copies for layers in _blocks(network, row.contiguous(), labels, row_losses, block))
        if all(_alike(array) for layers in tried for layer in layers for array in layer):
            break
    return block


def _alike(rows: Array | SparseRows) -> bool:
    """Tell whether all rows are equal to the bit."""
    return isinstance(rows, SparseRows) or bool((rows == rows[:1]).all())


class _Layer(NamedTuple):
    """A linear layer's part in a block: each example's input h, slope g, and the length of (h, 1)."""

    inputs: Array | SparseRows
    slopes: Array
    lengths: Array


def _blocks(network: nn.Sequential, x: Rows, labels: Tensor, loss: Loss, block: int) -> Iterator[list[_Layer]]:
    """Yield the layers of each block of examples; all blocks have the same size for the kernels."""
    for start in range(0, len(x), block):
        rows, target = x[start : start + block], _padded(labels[start : start + block], block)
        is_example = torch.arange(block) < len(rows)
        inputs, outputs = _forward(
            network, rows.padded(block) if isinstance(rows, SparseRows) else _padded(rows, block)
        )
        slopes = torch.autograd.grad(loss(outputs[-1], target)[is_example].sum(), outputs)
        layers = []
        for h, g in zip(inputs, slopes, strict=True):
            known = h if isinstance(h, SparseRows) else h.detach().double().numpy()
            squares = known.square_norms() if isinstance(known, SparseRows) else _squares(known)
            layers.append(_Layer(known, g.double().numpy(), np.sqrt(squares + 1)))
        yield layers


def _forward(network: nn.Sequential, rows: Rows) -> tuple[list[Rows], list[Tensor]]:
    """Return the inputs and the outputs of each linear layer."""
    inputs: list[Rows] = []
    outputs: list[Tensor] = []
    hidden = rows
    for layer in network:
        if isinstance(layer, nn.Linear) and layer.bias is not None:
            inputs.append(hidden)
            mapped = hidden.map(layer).requires_grad_() if isinstance(hidden, SparseRows) else _linear(layer, hidden)
            outputs.append(mapped)
            hidden = mapped
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


def _padded(rows: Tensor, block: int) -> Tensor:
    """Fill a block up with zeros."""
    return torch.cat([rows, rows.new_zeros(block - len(rows), *rows.shape[1:])])


def _rounded(layers: list[_Layer], max_grad_norm: float) -> list[tuple[Array, Array | SparseRows, Array]]:
    """Return each layer's slopes, inputs and last inputs (those of the bias) as integers, clipped and checked."""
    norms = np.sqrt(sum(_squares(slopes) * lengths**2 for _, slopes, lengths in layers))
    factors = _factors(norms, _SHRUNK * max_grad_norm) * (2.0**_SLOPE_BITS / max_grad_norm)
    found, squares = [], np.zeros(len(norms))
    for inputs, slopes, lengths in layers:
        scales = np.where(np.isfinite(norms), 2.0**_INPUT_BITS / lengths, 0.0)
        steep = np.rint(_scaled(slopes, factors * np.where(np.isfinite(norms), lengths, 0.0)))
        whole = inputs.rounded(scales) if isinstance(inputs, SparseRows) else np.rint(_scaled(inputs, scales))
        ends = np.rint(scales)
        sizes = whole.square_norms() if isinstance(whole, SparseRows) else _squares(whole)
        squares += _squares(steep) * (sizes + ends**2)
        found.append((steep, whole, ends))
    allowed = squares <= _WHOLE**2 * _MARGIN  # always, but for inputs of millions of columns
    return [(steep * allowed[:, None], whole, ends) for steep, whole, ends in found]


def _flat(parts: list[tuple[Array, Array | SparseRows, Array]]) -> Array:
    """Return the sums of outer products of slopes and inputs, and of slopes and last inputs, one after another."""
    sums: list[Array] = []
    for slopes, inputs, ends in parts:
        product = inputs.weighted_sum(slopes) if isinstance(inputs, SparseRows) else slopes.T @ inputs
        sums += [product.ravel(), ends @ slopes]
    return np.concatenate(sums)


def _factors(norms: Array, most: float) -> Array:
    """Return what brings each norm down to ``most``; 0 for an example without a finite gradient."""
    return np.where(np.isfinite(norms), np.minimum(1.0, most / np.maximum(norms, 1e-30)), 0.0)


def _scaled(rows: Array, factors: Array) -> Array:
    """Return each row times its factor; a row with factor 0 becomes zeros even if it is not finite."""
    with np.errstate(invalid="ignore"):  # infinity times 0
        scaled = rows * factors[:, None]
    if not factors.all():
        scaled[factors == 0] = 0.0
    return scaled


def _squares(rows: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", rows, rows))
