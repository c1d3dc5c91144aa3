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
clipped, and is rounded to a vector q of multiples of C 2^-42; with p = round(m q) the gradient is q yᵀ - p 1ᵀ. Its norm
is checked by the exact moments of y.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from privet.errors import InvalidParameter
from privet.mechanisms.primitives.grid import GridSum
from privet.models.aggregated import AggregatedRows
from privet.models.blocks import BLOCK, Layer, Loss, Moments, blocks, row_losses, stable_block
from privet.models.rows import Rows, SparseRows

__all__ = ["clipped_gradient", "perceptron", "stable_block", "summed_gradient"]

Array = NDArray[np.float64]

_INPUT_BITS, _SLOPE_BITS = 19, 18
_WHOLE = 2.0 ** (_INPUT_BITS + _SLOPE_BITS)
_FINER = 5  # bits by which the unit is smaller if the first layer has aggregated inputs
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
    first: list[_Rounded] = []
    kept = list(network.parameters())[2:] if isinstance(x, AggregatedRows) else list(network.parameters())
    total = np.zeros(sum(parameter.numel() for parameter in kept), dtype=np.int64)
    part, rows = np.zeros(len(total)), 0
    for layers in blocks(network, x, labels, loss, block):
        rounded = _rounded(layers, max_grad_norm)
        if isinstance(x, AggregatedRows):
            first.append(rounded.pop(0))
        _add_products(rounded, part)
        rows += block
        if rows + block > _EXACT_ROWS:
            total, part, rows = total + part.astype(np.int64), np.zeros_like(part), 0
    total += part.astype(np.int64)
    if not isinstance(x, AggregatedRows):
        return GridSum(total, max_grad_norm / _WHOLE)
    begin = _aggregated(x, first, network[0].out_features)
    return GridSum(np.concatenate([*begin, total << _FINER]), max_grad_norm / _WHOLE / 2**_FINER)


def summed_gradient(
    network: nn.Sequential, x: Rows, labels: Tensor, max_grad_norm: float = math.inf, *, loss: Loss = row_losses
) -> Array:
    """Return the same sum in double precision, for training without noise; the norm may be infinite."""
    total = np.zeros(sum(parameter.numel() for parameter in network.parameters()))
    for start, layers in enumerate(blocks(network, x, labels, loss, BLOCK)):
        norms = np.sqrt(sum(_squares(layer.slopes) * layer.squares for layer in layers))
        factors = _factors(norms, max_grad_norm)
        ones, usable = np.ones(len(norms)), (factors > 0).astype(np.float64)
        parts = []
        for inputs, slopes, _ in layers:
            steep = _scaled(slopes, factors)
            if isinstance(inputs, Moments) and isinstance(x, AggregatedRows):
                rows = x[start * BLOCK : (start + 1) * BLOCK]
                parts.append(_Rounded(steep[: len(rows)], rows, ones[: len(rows)]))
            elif isinstance(inputs, np.ndarray):
                parts.append(_Rounded(steep, _scaled(inputs, usable), ones))
            elif isinstance(inputs, SparseRows):
                parts.append(_Rounded(steep, inputs, ones))
        _add_products(parts, total)
    return total


class _Rounded(NamedTuple):
    """A layer's slopes, inputs and last inputs (those of the bias), as integers.

    For aggregated inputs the second and third are p, the weights of (1, ..., 1), and the slopes of the bias.
    """

    slopes: Array
    inputs: Array | SparseRows
    ends: Array


def _rounded(layers: list[Layer], max_grad_norm: float) -> list[_Rounded]:
    """Round each layer's part in the gradients, clipped; an example whose norm is not below C then counts as zero."""
    norms = np.sqrt(sum(_squares(layer.slopes) * layer.squares for layer in layers))
    factors = _factors(norms, _SHRUNK * max_grad_norm) / max_grad_norm
    found, total = [], np.zeros(len(norms))
    for layer in layers:
        rounded, squares = (_rounded_moments if isinstance(layer.inputs, Moments) else _rounded_rows)(layer, factors)
        found.append(rounded)
        total += squares
    refused = ~(total <= _WHOLE**2 * _MARGIN)  # nobody, but for inputs of millions of columns
    if refused.any():
        for rounded, layer in zip(found, layers, strict=True):
            rounded.slopes[refused] = 0.0
            if isinstance(layer.inputs, Moments):
                rounded.inputs[refused] = rounded.ends[refused] = 0.0
    return found


def _rounded_rows(layer: Layer, factors: Array) -> tuple[_Rounded, Array]:
    """Round inputs and slopes; also return the squared norms of their products, in units."""
    inputs, slopes, squares = layer
    usable = factors > 0
    lengths = np.where(usable, np.sqrt(squares), 1.0)
    scales = np.where(usable, 2.0**_INPUT_BITS / lengths, 0.0)
    steep = _scaled(slopes, factors * 2.0**_SLOPE_BITS * lengths)
    np.rint(steep, out=steep)
    ends = np.rint(scales)
    if isinstance(inputs, SparseRows):
        whole = inputs.rounded(scales)
        sizes = whole.square_norms()
    else:
        whole = _scaled(inputs, scales)
        np.rint(whole, out=whole)
        sizes = _squares(whole)
    return _Rounded(steep, whole, ends), _squares(steep) * (sizes + ends**2)


def _rounded_moments(layer: Layer, factors: Array) -> tuple[_Rounded, Array]:
    """Round the slopes of an aggregated layer: q, p and those of the bias; and bound the squared norms, in units."""
    (scales, means, sums, squares, width), slopes, _ = layer
    finer = factors * _WHOLE * 2.0**_FINER
    steep, ends = _scaled(slopes, finer * scales), _scaled(slopes, finer)
    np.rint(steep, out=steep)
    np.rint(ends, out=ends)
    shifts = np.rint(steep * means[:, None])
    most = _squares(steep) * squares + _squares(shifts) * width
    cross = np.einsum("ij,ij->i", steep, shifts) * sums
    bound = most - 2 * cross + _DOUBT * most + _squares(ends)
    return _Rounded(steep, shifts, ends), bound / 4.0**_FINER


def _aggregated(x: AggregatedRows, parts: list[_Rounded], channels: int) -> list[NDArray[np.int64]]:
    """Return the sum of a first layer's gradients over all examples, of its weights and of its biases."""
    nothing = np.zeros((0, channels))
    slopes, shifts, ends = (
        np.concatenate([nothing, *(np.asarray(part[place]) for part in parts)])[: len(x)].astype(np.int64)
        for place in range(3)
    )
    return [x.exact_sum(slopes, shifts).ravel(), ends.sum(axis=0)]


def _add_products(parts: list[_Rounded], total: Array) -> None:
    """Add the sums of outer products of slopes and inputs, and of slopes and last inputs, one after another."""
    start = 0
    for slopes, inputs, ends in parts:
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


def _squares(rows: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", rows, rows))
