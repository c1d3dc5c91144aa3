"""Clipped sums of per-example gradients without per-example gradients in memory, exact on an integer grid.

Of a linear layer z = W h + b the gradient of one example is the outer product g (h, 1)ᵀ with g = dL/dz, so its squared
norm is |g|² (|h|² + 1) and the sum of clipped gradients is one product of two matrices. A network of such layers and
element-wise functions needs one forward and one backward pass for the whole batch.

The sum that gets noise is an exact integer: every example's clipped gradient is rounded to a public grid
(:mod:`privet.models.clipping.rounded_layers`), its norm is checked there, and integers are added up without rounding,
in any order. So leaving an example out moves the sum by that example's vector and by nothing else, as long as the
numbers of the other examples do not depend on who is in the batch: :func:`stable_block` sees to that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from privet.errors import InvalidParameter
from privet.mechanisms.primitives.grid import GridSum
from privet.models.clipping.aggregated import AggregatedRows
from privet.models.clipping.blocks import (
    BLOCK,
    AggregatedLayer,
    Layer,
    Loss,
    aggregated_layers_of,
    first_layer,
    layers_of,
    linear_layers,
    one_pass,
    row_losses,
)
from privet.models.clipping.products import product
from privet.models.clipping.rounded_layers import (
    FINER,
    WHOLE,
    Aggregated,
    Dense,
    DenseSum,
    Sparse,
    SparseSum,
    put_together,
    room_for_rounding,
    rounded_dense,
    rounded_first,
    rounded_sparse,
)
from privet.models.clipping.rows import Rows, SparseRows

__all__ = ["clipped_gradient", "perceptron", "stable_block", "summed_gradient"]

Array = NDArray[np.float64]

_NOISELESS_BLOCK = 1024  # rows; without noise nothing depends on their places
_MARGIN = 1 - 2.0**-29  # of the squared norm is left for rounding of the check itself


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
        raise InvalidParameter("max_grad_norm", "a finite number above 0", max_grad_norm)
    if not all(each.dtype in (torch.float32, torch.float64) for each in network.parameters()):
        raise InvalidParameter("The network of clipped_gradient must have float32 or float64: norms need 24 bits.")
    if isinstance(x, AggregatedRows):
        return _aggregated_gradient(network, x, labels, max_grad_norm, loss, block)
    first, *later = linear_layers(network)
    sums = [(SparseSum if isinstance(x, SparseRows) else DenseSum)(first), *map(DenseSum, later)]
    for layers in layers_of(network, x, labels, loss, block):
        for each, part in zip(sums, _on_grid(layers, max_grad_norm), strict=True):
            each.add(part)
    return GridSum(put_together([each.total() for each in sums]), max_grad_norm / WHOLE)


def _aggregated_gradient(
    network: nn.Sequential, x: AggregatedRows, labels: Tensor, max_grad_norm: float, loss: Loss, block: int
) -> GridSum:
    """Return the same for aggregated examples, the first layer's part of which is one product for all of them."""
    later = [DenseSum(layer) for layer in linear_layers(network)[1:]]
    wide = first_layer(network).out_features
    slopes, (shift, end) = [np.zeros((0, wide))], np.zeros((2, wide), dtype=np.int64)
    for first, layers in aggregated_layers_of(network, x, labels, loss, block):
        factors = _factors([first, *layers], _share([first, *layers]) * max_grad_norm) / max_grad_norm
        begin, rest = rounded_first(first, factors), [rounded_dense(layer, factors) for layer in layers]
        _leave_out_too_long([begin, *rest])
        slopes.append(begin.slopes)
        shift += begin.shifts.astype(np.int64).sum(axis=0)
        end += begin.ends.astype(np.int64).sum(axis=0)
        for each, part in zip(later, rest, strict=True):
            each.add(part)
    matrix = x.exact_sum(np.concatenate(slopes)).astype(np.int64)
    matrix -= shift[:, None]
    totals = [(torch.from_numpy(matrix), torch.from_numpy(end))]
    totals += [(weight << FINER, bias << FINER) for weight, bias in (each.total() for each in later)]
    return GridSum(put_together(totals), max_grad_norm / WHOLE / 2**FINER)


def summed_gradient(
    network: nn.Sequential, x: Rows, labels: Tensor, max_grad_norm: float = math.inf, *, loss: Loss = row_losses
) -> Array:
    """Return the same sum in the network's precision, for training without noise; the norm may be infinite."""
    totals = [torch.zeros_like(parameter, requires_grad=False) for parameter in network.parameters()]
    plain = SparseRows(x.values, x.offsets) if isinstance(x, AggregatedRows) else x
    for layers in layers_of(network, plain, labels, loss, min(_NOISELESS_BLOCK, max(1, len(x)))):
        factors = _factors(layers, max_grad_norm)
        for layer, weight, bias in zip(layers, totals[::2], totals[1::2], strict=True):
            _add_weighted(layer, factors, weight, bias)
    return torch.cat([total.flatten() for total in totals]).double().numpy()


def stable_block(network: nn.Sequential, x: Rows) -> int:
    """Find a number of rows at which an example's numbers do not depend on its place among them.

    Copies of one row must give equal bits at every place of a block. One row alone always passes.

    Args:
        network: The network.
        x: Examples as wide as those to come; their numbers are not used.
    """
    mapped = isinstance(x, AggregatedRows)
    width = first_layer(network).out_features if mapped else x.shape[1]
    generator, dtype = torch.Generator().manual_seed(0), next(network.parameters()).dtype
    block = BLOCK
    while block > 1:
        copies = torch.randn(8, 1, width, generator=generator).to(dtype).expand(-1, block, -1)
        labels = torch.zeros(block, dtype=torch.int64)
        tried = (one_pass(network, row.contiguous(), labels, row_losses, mapped=mapped) for row in copies)
        if all(_alike(each) for passes in tried for part in passes for each in part if isinstance(each, Tensor)):
            break
        block //= 2
    return block


def _alike(rows: Tensor) -> bool:
    """Tell whether all rows are equal to the bit."""
    return bool((rows == rows[:1]).all())


def _on_grid(layers: list[Layer], max_grad_norm: float) -> list[Any]:
    """Clip and round the gradients of some examples."""
    factors = _factors(layers, _share(layers) * max_grad_norm) / max_grad_norm
    kinds = (rounded_sparse if isinstance(layer.inputs, SparseRows) else rounded_dense for layer in layers)
    found = [kind(layer, factors) for kind, layer in zip(kinds, layers, strict=True)]
    _leave_out_too_long(found)
    return found


def _share(layers: Sequence[Layer | AggregatedLayer]) -> float:
    """Return the share of C that is left for gradients before rounding."""
    widths = [layer.inputs.shape[1] + 1 for layer in layers if isinstance(layer, Layer)]
    return room_for_rounding(max(widths, default=1), sum(layer.slopes.shape[1] for layer in layers))


def _factors(layers: Sequence[Layer | AggregatedLayer], most: float) -> Array:
    """Return what brings the norm of each example down to ``most``; 0 for one without a finite gradient."""
    with np.errstate(invalid="ignore", over="ignore"):  # a warning would tell of somebody
        norms = np.sqrt(sum(layer.steepness * layer.squares for layer in layers))
    return np.where(np.isfinite(norms), np.minimum(1.0, most / np.maximum(norms, 1e-30)), 0.0)


def _leave_out_too_long(parts: Sequence[Aggregated | Dense | Sparse]) -> None:
    """Let an example whose gradient is not below C even now count as zero."""
    refused = ~(np.sum([part.squares for part in parts], axis=0) <= WHOLE**2 * _MARGIN)
    if refused.any():  # nobody, but for sparse inputs of millions of columns
        for part in parts:
            part.leave_out(refused)


def _add_weighted(layer: Layer, factors: Array, weight: Tensor, bias: Tensor) -> None:
    """Add the gradients of the weight and of the bias, each example's times its factor, to their sums."""
    slopes, inputs = layer.slopes.mul_(torch.from_numpy(factors).to(weight.dtype)[:, None]), layer.inputs
    if not factors.all():  # what is not finite times 0 is not 0
        useless = torch.from_numpy(factors == 0)
        slopes[useless] = 0.0
        inputs = inputs if isinstance(inputs, SparseRows) else inputs.clone().index_fill_(0, useless.nonzero()[:, 0], 0)
    if isinstance(inputs, SparseRows):
        weight += torch.from_numpy(inputs.weighted_sum(slopes.double().numpy()))
    else:
        weight += product(slopes.T, inputs)
    bias += slopes.sum(0)
