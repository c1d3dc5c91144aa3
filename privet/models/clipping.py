"""Clipped sums of per-example gradients without per-example gradients in memory.

Of a linear layer z = W h + b the gradient of one example is the outer product g hᵀ with g = dL/dz, so its squared norm
is |g|² (|h|² + 1) and the sum of clipped gradients is one product of two matrices. A network of such layers and
element-wise functions needs one forward and one backward pass for the whole batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from privet.errors import InvalidParameter

__all__ = ["ClippedGradient", "clipped_gradient", "perceptron"]

_ELEMENTWISE = (nn.ELU, nn.Identity, nn.ReLU, nn.SELU, nn.Tanh)
_SHRINK = 1 - 2.0**-40  # rounding of the norms and sums, which are float64, must not lift a gradient above the bound

Loss = Callable[[Tensor], Tensor]


@dataclass(frozen=True, eq=False)
class ClippedGradient:
    """The clipped sum of a batch's gradients.

    Attributes:
        sums: The sums in the order of the network's parameters, in float64.
        norms: Each example's gradient norm before clipping.
    """

    sums: list[Tensor]
    norms: Tensor


def perceptron(in_channels: int, hidden_channels: int, out_channels: int, num_layers: int = 2) -> nn.Sequential:
    """Return linear layers with ELU between them: the network over one aggregated vector."""
    widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
    layers: list[nn.Module] = []
    for number in range(num_layers):
        layers += [nn.ELU()] * (number > 0) + [nn.Linear(widths[number], widths[number + 1])]
    return nn.Sequential(*layers)


def clipped_gradient(network: nn.Sequential, x: Tensor, loss: Loss, max_grad_norm: float) -> ClippedGradient:
    """Return sum_i g_i min(1, C / |g_i|), g_i being the gradient of row i's loss in all parameters together.

    An example whose gradient is not finite counts as zero.

    Args:
        network: Linear layers with bias and element-wise functions, ending in a linear layer.
        x: The examples, one in each row.
        loss: Maps the outputs to one loss for each row.
        max_grad_norm: C, above 0.
    """
    if not max_grad_norm > 0:
        raise InvalidParameter("max_grad_norm", "clipped_gradient", "above 0", max_grad_norm)
    inputs, outputs = _forward(network, x)
    slopes = torch.autograd.grad(loss(outputs[-1]).sum(), outputs)
    squares = torch.zeros(len(x), dtype=torch.float64)
    for h, g in zip(inputs, slopes, strict=True):
        squares += _square_norm(g) * (_square_norm(h) + 1)
    norms = squares.sqrt()
    finite = torch.isfinite(norms)
    factors = (max_grad_norm * _SHRINK / norms.clamp_min(1e-30)).clamp_max(1.0)[:, None]
    sums: list[Tensor] = []
    for h, g in zip(inputs, slopes, strict=True):
        # In float64: a float32 sum would round by more than one example may move it.
        scaled, plain = g * factors, h.detach().double()
        if not finite.all():
            scaled, plain = scaled.masked_fill(~finite[:, None], 0), plain.masked_fill(~finite[:, None], 0)
        sums += [scaled.T @ plain, scaled.sum(0)]
    return ClippedGradient(sums, norms)


def _forward(network: nn.Sequential, x: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """Return the inputs and the outputs of each linear layer."""
    inputs, outputs, hidden = [], [], x
    for layer in network:
        if isinstance(layer, nn.Linear) and layer.bias is not None:
            inputs.append(hidden)
            hidden = layer(hidden)
            outputs.append(hidden)
        elif isinstance(layer, _ELEMENTWISE):
            hidden = layer(hidden)
        else:
            expected = "of linear layers with bias and element-wise functions, which treat each example alone"
            raise InvalidParameter("network", "clipped_gradient", expected, type(layer).__name__)
    if not outputs or hidden is not outputs[-1]:
        raise InvalidParameter("network", "clipped_gradient", "ending in a linear layer", "another end")
    return inputs, outputs


def _square_norm(rows: Tensor) -> Tensor:
    squares: Tensor = torch.linalg.vector_norm(rows.detach(), dim=1, dtype=torch.float64).square()
    return squares
