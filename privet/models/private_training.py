"""The private training loop: Algorithm 1 of HeterPoisson, and DP-SGD where an example is a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from privet.mechanisms import Bits
from privet.mechanisms.primitives.noise import Noise, noisy_sum
from privet.models.clipping import clipped_gradient

__all__ = ["Batch", "Optimizer", "PrivateSteps", "train_privately"]

Optimizer: TypeAlias = Literal["adam", "sgd"]
Batch: TypeAlias = tuple[NDArray[np.float32], NDArray[np.int64]]


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
    parameters = list(network.parameters())
    make = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[how.optimizer]
    optimizer = make(parameters, lr=how.learning_rate)
    for _ in _counted(how.steps, progress):
        x, labels = batch()
        found = clipped_gradient(network, torch.from_numpy(x), _losses(labels), how.max_grad_norm)
        total = torch.cat([part.flatten() for part in found.sums]).numpy()
        released = noisy_sum(total, how.sigma, bits, noise=how.noise) / how.expected_size
        _set_gradients(parameters, torch.from_numpy(released))
        optimizer.step()


def _losses(labels: NDArray[np.int64]) -> Callable[[Tensor], Tensor]:
    target = torch.from_numpy(labels)
    return lambda logits: cross_entropy(logits, target, reduction="none")


def _set_gradients(parameters: list[nn.Parameter], flat: Tensor) -> None:
    start = 0
    for parameter in parameters:
        part = flat[start : start + parameter.numel()]
        parameter.grad = part.reshape(parameter.shape).to(parameter.dtype)
        start += parameter.numel()


def _counted(steps: int, progress: bool) -> Iterable[int]:
    """Count the steps, with a bar on a terminal if asked for."""
    if not progress:
        return range(steps)
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    silent = not console.is_terminal
    return track(range(steps), "private steps", console=console, transient=True, disable=silent)
