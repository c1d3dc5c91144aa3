"""The settings of a training, and the fields that systems share, with their checks written once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from privet.errors import InvalidParameter
from privet.estimation.priors.adam import Adam

__all__ = ["NetworkSettings", "Optimizer", "TrainingSettings"]


def _is_count(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 1


_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "direction": (lambda value: value in ("max", "min"), "max or min"),
    "dropout": (lambda value: 0 <= value < 1, "at least 0 and below 1"),
    "hidden_channels": (_is_count, "an integer of at least 1"),
    "learning_rate": (lambda value: 0 < value < math.inf, "a finite number above 0"),
    "max_epochs": (_is_count, "an integer of at least 1"),
    "max_grad_norm": (lambda value: value is None or value > 0, "None or a number above 0"),
    "num_layers": (_is_count, "an integer of at least 1"),
    "patience": (lambda value: value is None or _is_count(value), "None or an integer of at least 1"),
    "weight_decay": (lambda value: 0 <= value < math.inf, "a finite number of at least 0"),
}


def _check(settings: object, names: Iterable[str]) -> None:
    for name in names:
        holds, expected = _RULES[name]
        if not holds(getattr(settings, name)):
            raise InvalidParameter(name, expected, getattr(settings, name))


class Optimizer(Protocol):
    """Anything that moves weights: torch's optimisers and :class:`~privet.estimation.priors.adam.Adam`."""

    param_groups: list[dict[str, Any]]

    def zero_grad(self) -> None:
        """Forget all gradients."""

    def step(self) -> Any:
        """Move the parameters."""


@dataclass(frozen=True)
class TrainingSettings:
    """The settings of :func:`privet.models.train`; the defaults are those that most of the papers share.

    Attributes:
        max_epochs: The largest number of epochs.
        learning_rate: The optimiser's learning rate.
        weight_decay: The optimiser's weight decay.
        direction: ``"max"`` if a larger score is better, ``"min"`` if a smaller one is.
        patience: Training stops once the best score is so many epochs old; None to train for all epochs.
        max_grad_norm: The bound on the norm of the whole gradient of each step; None for no bound.
        optimizer: Called with parameters, ``lr`` and ``weight_decay``.
        seed: Dropout and whatever else the loss draws from torch repeat with the same seed; None for other numbers
            each time.
        progress: True to show a progress bar on a terminal.
    """

    max_epochs: int = 500
    learning_rate: float = 0.01
    weight_decay: float = 0.0
    direction: Literal["max", "min"] = "max"
    patience: int | None = None
    max_grad_norm: float | None = None
    optimizer: Callable[..., Optimizer] = Adam
    seed: int | None = None
    progress: bool = False

    def __post_init__(self) -> None:
        _check(self, ("max_epochs", "learning_rate", "weight_decay", "direction", "patience", "max_grad_norm"))

    def better(self, score: float, best: float) -> bool:
        """Return True if a score beats the best one; equal scores do not, so that the earliest best is kept.

        Args:
            score: The new score.
            best: The best score so far.
        """
        return score > best if self.direction == "max" else score < best


@dataclass(frozen=True, kw_only=True)
class NetworkSettings:
    """The fields of a system that trains one network by gradient descent; a system inherits them and their checks.

    A system that has other defaults declares those fields again, and nothing else. Its own ``__post_init__``, if it
    has one, begins with ``super().__post_init__()``.

    Attributes:
        hidden_channels: The width of the hidden layers.
        num_layers: The number of layers.
        dropout: The share of hidden values that a training step sets to 0.
        learning_rate: Adam's learning rate.
        weight_decay: Adam's weight decay.
        max_epochs: The largest number of epochs.
        patience: Training stops once the best score is so many epochs old; None to train for all epochs.
        least_layers: The smallest ``num_layers`` that the system's network has.
    """

    least_layers: ClassVar[int] = 1

    hidden_channels: int = 16
    num_layers: int = 2
    dropout: float = 0.0
    learning_rate: float = 0.01
    weight_decay: float = 0.001
    max_epochs: int = 500
    patience: int | None = 50

    def __post_init__(self) -> None:
        _check(self, [field.name for field in fields(NetworkSettings)])
        if self.num_layers < self.least_layers:
            expected = f"an integer of at least {self.least_layers}"
            raise InvalidParameter("num_layers", expected, self.num_layers)
        getattr(super(), "__post_init__", lambda: None)()  # the checks of whatever a system inherits beside this

    def training(self, seed: int | None, direction: Literal["max", "min"], **more: Any) -> TrainingSettings:
        """Return the settings of the training loop.

        Args:
            seed: The seed of dropout.
            direction: ``"max"`` if a larger score is better, ``"min"`` if a smaller one is.
            **more: Other fields of :class:`TrainingSettings`, such as ``progress`` and ``max_grad_norm``.
        """
        shared = {name: getattr(self, name) for name in ("learning_rate", "max_epochs", "patience", "weight_decay")}
        return TrainingSettings(direction=direction, seed=seed, **shared, **more)
