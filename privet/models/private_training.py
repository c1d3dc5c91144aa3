"""The private training loop: Algorithm 1 of HeterPoisson, and DP-SGD where an example is a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from privet.errors import InvalidParameter
from privet.mechanisms import Bits
from privet.mechanisms.primitives.grid import GridSum
from privet.mechanisms.primitives.noise import Noise
from privet.models.clipping import clipped_gradient, stable_block, summed_gradient
from privet.models.clipping.rows import Rows, SparseRows
from privet.models.progress import counting
from privet.privacy.accounting.program import MOST_DRAWS

__all__ = ["Batch", "Optimizer", "PrivateSteps", "descend", "step", "train_privately"]

Optimizer: TypeAlias = Literal["adam", "sgd"]
Batch: TypeAlias = tuple[NDArray[np.float32] | SparseRows, NDArray[np.int64]]


@dataclass(frozen=True)
class PrivateSteps:
    """The public settings of a private training.

    Attributes:
        steps: The number of steps.
        max_grad_norm: The norm that each gradient is clipped to.
        sigma: The standard deviation of the noise on their sum.
        expected_size: The expected size of a batch, which is public, unlike the size of a drawn one.
        noise: The kind of noise (default "gaussian").
        optimizer: "adam" (default) or "sgd".
        learning_rate: The optimizer's (default 0.01).
    """

    steps: int
    max_grad_norm: float
    sigma: float
    expected_size: float
    noise: Noise = "gaussian"
    optimizer: Optimizer = "adam"
    learning_rate: float = 0.01


def train_privately(
    network: nn.Sequential, batch: Callable[[], Batch], how: PrivateSteps, bits: Bits, *, progress: bool = False
) -> None:
    """Train in place with g = (sum of clipped gradients + noise) / expected size in each step.

    Nothing about the examples leaves but the noisy sums: no loss is shown.

    Args:
        network: Linear layers and element-wise functions.
        batch: Draws examples and their classes.
        how: The settings.
        bits: The source of the noise.
        progress: Show a bar on a terminal (default False).
    """
    block = None

    def gradient_sum() -> GridSum | NDArray[np.float64]:
        nonlocal block
        drawn, labels = batch()
        x: Rows = drawn if isinstance(drawn, SparseRows) else torch.from_numpy(drawn)
        block = stable_block(network, x) if block is None else block
        if not how.sigma:
            return summed_gradient(network, x, torch.from_numpy(labels), how.max_grad_norm)
        return clipped_gradient(network, x, torch.from_numpy(labels), how.max_grad_norm, block=block)

    descend(list(network.parameters()), gradient_sum, how, bits, progress=progress)


def descend(
    parameters: list[nn.Parameter],
    gradient_sum: Callable[[], GridSum | NDArray[np.float64]],
    how: PrivateSteps,
    bits: Bits,
    *,
    progress: bool = False,
) -> None:
    """Train parameters in place, whatever the examples are.

    Args:
        parameters: The parameters, in the order of the sums.
        gradient_sum: Draws examples and returns the sum of their clipped gradients on the integer grid; without noise
            it may also be in doubles.
        how: The settings.
        bits: The source of the noise.
        progress: Show a bar on a terminal (default False).
    """
    draws = how.steps * sum(parameter.numel() for parameter in parameters)
    if how.sigma and draws > MOST_DRAWS:
        expected = f"few enough for at most 2^32 noise values, which are accounted for; this network has {draws} in all"
        raise InvalidParameter("steps", expected, how.steps)
    make = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[how.optimizer]
    optimizer = make(parameters, lr=how.learning_rate, fused=True)
    with counting(progress, how.steps, "step") as show:
        for _ in range(how.steps):
            step(optimizer, parameters, gradient_sum(), how, bits)
            show("private steps")


def step(
    optimizer: torch.optim.Optimizer,
    parameters: list[nn.Parameter],
    total: GridSum | NDArray[np.float64],
    how: PrivateSteps,
    bits: Bits,
) -> None:
    """Take one step with a sum of clipped gradients.

    Args:
        optimizer: The optimizer of the parameters.
        parameters: The parameters, in the order of the sum.
        total: The sum.
        how: The settings.
        bits: The source of the noise.
    """
    released = _released(total, how, bits) / how.expected_size
    _set_gradients(parameters, torch.from_numpy(released))
    optimizer.step()


def _released(total: GridSum | NDArray[np.float64], how: PrivateSteps, bits: Bits) -> NDArray[np.float64]:
    """Return the sum of clipped gradients with noise."""
    if isinstance(total, GridSum):
        return total.with_noise(how.sigma, bits, noise=how.noise)
    if how.sigma:
        raise InvalidParameter("Noise needs a sum on the integer grid. Let gradient_sum return a GridSum.")
    return total


def _set_gradients(parameters: list[nn.Parameter], flat: Tensor) -> None:
    start = 0
    for parameter in parameters:
        part = flat[start : start + parameter.numel()]
        parameter.grad = part.reshape(parameter.shape).to(parameter.dtype)
        start += parameter.numel()
