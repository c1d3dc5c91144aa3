"""Clipped sums of per-example gradients without per-example gradients in memory, exact on an integer grid.

Of a linear layer z = W h + b the gradient of one example is the outer product g (h, 1)ᵀ with g = dL/dz, so its squared
norm is |g|² (|h|² + 1) and the sum of clipped gradients is one product of two matrices. A network of such layers and
element-wise functions needs one forward and one backward pass for the whole batch.

The sum that gets noise is an exact integer. Each example's (h, 1) is scaled to norm 1 and rounded to multiples of
2^-19; its g takes that norm in, is clipped, and is rounded to multiples of C 2^-18. Gradients are then multiples of C
2^-37 of norm at most C, which is checked for each, and doubles add them up without rounding, in any order. So
leaving an example out moves the sum by that example's vector and by nothing else, as long as the numbers of the other
examples do not depend on who is in the batch: :mod:`privet.models.blocks` sees to that.

Aggregated inputs h = s (y - m 1) of a first layer, with y a vector of integers, need no rounding: g takes s in, is
clipped, and is rounded to a vector q of multiples of C 2^-41; with p = round(m q) the gradient is q yᵀ - p 1ᵀ. Its norm
is checked by the exact moments of y.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from privet.errors import InvalidParameter
from privet.mechanisms.primitives.grid import GridSum
from privet.models.aggregated import AggregatedRows
from privet.models.blocks import (
    BLOCK,
    AggregatedLayer,
    Layer,
    Loss,
    aggregated_blocks,
    blocks,
    row_losses,
    stable_block,
)
from privet.models.rows import Rows, SparseRows

__all__ = ["clipped_gradient", "perceptron", "stable_block", "summed_gradient"]

Array = NDArray[np.float64]

_INPUT_BITS, _SLOPE_BITS = 19, 18
_WHOLE = 2.0 ** (_INPUT_BITS + _SLOPE_BITS)
_FINER = 4  # bits by which the unit is smaller if the first layer has aggregated inputs
_EXACT_ROWS = 2**15  # so many integers up to 2^37 add up to less than 2^53: a double holds the sum
_SHRUNK = 1 - 2.0**-8  # of the norm is left for rounding to the grid
_MARGIN = 1 - 2.0**-29  # of the squared norm is left for rounding of the check itself
_DOUBT = 2.0**-30  # of two terms is added to their difference, for the same


def perceptron(in_channels: int, hidden_channels: int, out_channels: int, num_layers: int = 2) -> nn.Sequential:
    """Return linear layers with ELU between them: the network over one aggregated vector."""
    widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
    layers: list[nn.Module] = []
    for number in range(num_layers):
        layers += [nn.ELU()] * (number > 0) + [nn.Linear(widths[number], widths[number + 1])]
    return nn.Sequential(*layers)


def clipped_gradient(
    network: nn.Sequential,
    x: Rows,
    labels: Tensor,
    max_grad_norm: float,
    *,
    loss: Loss = row_losses,
    block: int = BLOCK,
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
    if isinstance(x, AggregatedRows):
        return _aggregated_gradient(network, x, labels, max_grad_norm, loss, block)
    total = _ExactSum(sum(parameter.numel() for parameter in network.parameters()))
    for layers in blocks(network, x, labels, loss, block):
        factors = _factors(_norms(layers), _SHRUNK * max_grad_norm) / max_grad_norm
        rounded = [_rounded(layer, factors) for layer in layers]
        total.add(_checked(rounded), block)
    return GridSum(total.whole(), max_grad_norm / _WHOLE)


def _aggregated_gradient(
    network: nn.Sequential, x: AggregatedRows, labels: Tensor, max_grad_norm: float, loss: Loss, block: int
) -> GridSum:
    """Return the same for aggregated examples, the first layer's part of which is one product for all of them."""
    weight, bias, *others = network.parameters()
    later = _ExactSum(sum(parameter.numel() for parameter in others))
    slopes = [np.zeros((0, len(bias)))]
    shift, end = np.zeros((2, len(bias)), dtype=np.int64)
    for first, layers in aggregated_blocks(network, x, labels, loss, block):
        factors = _factors(_norms([first, *layers]), _SHRUNK * max_grad_norm) / max_grad_norm
        begin, *rest = _checked([_rounded_first(first, factors), *(_rounded(layer, factors) for layer in layers)])
        slopes.append(begin.slopes)
        shift += np.asarray(begin.inputs).astype(np.int64).sum(axis=0)
        end += begin.ends.astype(np.int64).sum(axis=0)
        later.add(rest, block)
    total = np.empty(weight.numel() + len(bias) + len(later.part), dtype=np.int64)
    matrix = total[: weight.numel()].reshape(weight.shape)
    matrix[:] = x.exact_sum(np.concatenate(slopes)[: len(x)])
    matrix -= shift[:, None]
    total[weight.numel() :] = np.concatenate([end, later.whole() << _FINER])
    return GridSum(total, max_grad_norm / _WHOLE / 2**_FINER)


def summed_gradient(
    network: nn.Sequential, x: Rows, labels: Tensor, max_grad_norm: float = math.inf, *, loss: Loss = row_losses
) -> Array:
    """Return the same sum in double precision, for training without noise; the norm may be infinite."""
    total = np.zeros(sum(parameter.numel() for parameter in network.parameters()))
    plain = SparseRows(x.values, x.offsets) if isinstance(x, AggregatedRows) else x
    for layers in blocks(network, plain, labels, loss, BLOCK):
        factors = _factors(_norms(layers), max_grad_norm)
        ones, usable = np.ones(len(factors)), (factors > 0).astype(np.float64)
        parts = []
        for inputs, slopes, squares in layers:
            whole = inputs if isinstance(inputs, SparseRows) else _scaled(inputs, usable)
            parts.append(_Rounded(_scaled(slopes, factors), whole, ones, squares))
        _add_products(parts, total)
    return total


class _Rounded(NamedTuple):
    """A layer's slopes, inputs and last inputs (those of the bias), as integers, and squared norms of the products.

    Of an aggregated layer they are q, p, the slopes of the bias, and bounds of the squared norms. All squared norms are
    in units of (C 2^-37)².
    """

    slopes: Array
    inputs: Array | SparseRows
    ends: Array
    squares: Array


class _ExactSum:
    """A sum of products of integers: of a few blocks in doubles, which hold it exactly, and of all in integers."""

    def __init__(self, size: int) -> None:
        self.part, self.rows = np.zeros(size), 0
        self.total = np.zeros(size, dtype=np.int64)

    def add(self, parts: list[_Rounded], rows: int) -> None:
        """Add the products of a block."""
        if self.rows + rows > _EXACT_ROWS:
            self.total, self.part, self.rows = self.whole(), np.zeros_like(self.part), 0
        _add_products(parts, self.part)
        self.rows += rows

    def whole(self) -> NDArray[np.int64]:
        """Return the sum."""
        return self.total + self.part.astype(np.int64)


def _norms(layers: Sequence[Layer | AggregatedLayer]) -> Array:
    return np.asarray(np.sqrt(sum(_squares(layer.slopes) * layer.squares for layer in layers)))


def _checked(layers: list[_Rounded]) -> list[_Rounded]:
    """Return the layers; an example whose gradient is not below C even now counts as zero."""
    refused = ~(np.sum([layer.squares for layer in layers], axis=0) <= _WHOLE**2 * _MARGIN)
    if refused.any():  # nobody, but for inputs of millions of columns
        for slopes, inputs, ends, _ in layers:
            slopes[refused] = ends[refused] = 0.0
            if isinstance(inputs, np.ndarray):
                inputs[refused] = 0.0
    return layers


def _rounded(layer: Layer, factors: Array) -> _Rounded:
    """Round inputs and slopes, which are multiplied by ``factors`` over C."""
    inputs, slopes, squares = layer
    usable = factors > 0
    lengths = np.where(usable, np.sqrt(squares), 1.0)
    scales = np.where(usable, 2.0**_INPUT_BITS / lengths, 0.0)
    steep = _rint(_scaled(slopes, factors * 2.0**_SLOPE_BITS * lengths))
    whole = inputs.rounded(scales) if isinstance(inputs, SparseRows) else _rint(_scaled(inputs, scales))
    sizes = whole.square_norms() if isinstance(whole, SparseRows) else _squares(whole)
    ends = np.rint(scales)
    return _Rounded(steep, whole, ends, _squares(steep) * (sizes + ends**2))


def _rounded_first(layer: AggregatedLayer, factors: Array) -> _Rounded:
    """Round the slopes of an aggregated layer, in the finer unit."""
    finer = factors * _WHOLE * 2.0**_FINER
    steep, ends = _rint(_scaled(layer.slopes, finer * layer.scales)), _rint(_scaled(layer.slopes, finer))
    shifts = np.rint(steep * layer.means[:, None])
    # |q yᵀ - p 1ᵀ|²: the difference of these two, and what rounding may have taken from it
    most = _squares(steep) * layer.sizes + _squares(shifts) * layer.width
    cross = 2 * np.einsum("ij,ij->i", steep, shifts) * layer.sums
    return _Rounded(steep, shifts, ends, (most - cross + _DOUBT * most + _squares(ends)) / 4.0**_FINER)


def _add_products(parts: list[_Rounded], total: Array) -> None:
    """Add the sums of outer products of slopes and inputs, and of slopes and last inputs, one after another."""
    start = 0
    for slopes, inputs, ends, _ in parts:
        product = inputs.weighted_sum(slopes) if isinstance(inputs, SparseRows) else slopes.T @ inputs
        for each in (product.ravel(), ends @ slopes):
            total[start : start + len(each)] += each
            start += len(each)


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


def _rint(rows: Array) -> Array:
    return np.rint(rows, out=rows)


def _squares(rows: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", rows, rows))
