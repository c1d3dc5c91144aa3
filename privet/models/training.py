"""The one training loop: steps on a loss, a score after every epoch, the best weights kept.

Epoch t scores the weights after t epochs and then takes the steps of epoch t + 1 from the same weights. The two
need the same forward pass up to dropout and batch statistics, so what they have in common is computed once (see
:func:`shared`): T epochs cost T + 1 products with the features, not 2 T.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import chain
from statistics import fmean
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from privet.errors import InvalidData
from privet.models.progress import progress_bar
from privet.models.settings import Optimizer, TrainingSettings

__all__ = ["TrainingResult", "fixed_weights", "seeded", "shared", "train"]

Model = TypeVar("Model", bound=nn.Module)

_remembered: ContextVar[dict[tuple[Any, ...], tuple[Tensor, tuple[Any, ...]]] | None]
_remembered = ContextVar("remembered", default=None)


@dataclass(frozen=True)
class TrainingResult:
    """The course of a training.

    Attributes:
        losses: The mean loss of each epoch's steps; ``losses[t]`` is that of epoch t + 1.
        scores: The score of the weights after t epochs, from ``scores[0]`` of the initial ones on.
        best_epoch: The number of epochs after which the score was best.
        best_score: That score.
        seconds: The time that it took.
    """

    losses: tuple[float, ...]
    scores: tuple[float, ...]
    best_epoch: int
    best_score: float
    seconds: float

    @property
    def epochs(self) -> int:
        """The number of epochs trained."""
        return len(self.losses)


def train(
    model: Model,
    loss: Callable[[Model], Tensor | Iterator[Tensor]],
    score: Callable[[Model], float | Tensor],
    settings: TrainingSettings | None = None,
    *,
    parameters: Iterable[Any] | None = None,
    give_up: Callable[[int, float], bool] = lambda epoch, best: False,
) -> TrainingResult:
    """Train ``model`` in place and leave it with its best weights, in evaluation mode.

    However training ends, by an error or an interrupt too, the model has its best weights. Only the model is restored,
    so that anything trained beside a network is best put into one module with it.

    Args:
        model: The module to train.
        loss: Called with the model; returns the loss, or yields one loss for each mini-batch, of which each gets a
            step before the next is asked for.
        score: Called with the model in evaluation mode and without gradients. An infinite score on the wrong side
            keeps a state from ever being the best.
        settings: The optimiser's settings, :class:`TrainingSettings` by default.
        parameters: The parameters, or torch's parameter groups, that the optimiser moves; the model's by default.
        give_up: Called with the number of epochs and the best score so far; training ends where it returns True.

    >>> with seeded(0):
    ...     line = nn.Linear(1, 1)
    >>> def error(model):
    ...     return (model(torch.tensor([[0.0], [1.0]])) - torch.tensor([[1.0], [3.0]])).square().mean()
    >>> result = train(line, error, error, TrainingSettings(direction="min", learning_rate=0.1))
    >>> round(line.weight.item(), 2), round(line.bias.item(), 2), len(result.losses)
    (2.0, 1.0, 500)
    """
    settings = settings or TrainingSettings()
    chosen = list(model.parameters() if parameters is None else parameters)
    optimizer = settings.optimizer(chosen, lr=settings.learning_rate, weight_decay=settings.weight_decay)
    began = time.perf_counter()
    losses: list[float] = []
    scores: list[float] = []
    best_epoch, best_state = 0, _copy(model)
    shows = progress_bar(settings.max_epochs) if settings.progress else nullcontext(_silent)
    try:
        with seeded(settings.seed), shows as show:
            for epoch in range(settings.max_epochs + 1):
                with fixed_weights():
                    scores.append(_score(model, score, epoch))
                    if settings.better(scores[epoch], scores[best_epoch]):
                        best_epoch, best_state = epoch, _copy(model)
                    waited = epoch - best_epoch
                    if epoch == settings.max_epochs or (settings.patience and waited >= settings.patience):
                        break
                    if give_up(epoch, scores[best_epoch]):
                        break
                    batches = _batches(model.train(), loss)
                    first = next(batches, None)
                if first is None:
                    raise InvalidData(
                        f"The loss of epoch {epoch + 1} has no mini-batch. Return a tensor, or yield at least one."
                    )
                losses.append(fmean(_step(each, optimizer, settings, epoch) for each in chain([first], batches)))
                show(epoch + 1, losses[-1], scores[-1])
    finally:
        model.load_state_dict(best_state)
        model.eval()
    return TrainingResult(tuple(losses), tuple(scores), best_epoch, scores[best_epoch], time.perf_counter() - began)


def _score(model: Model, score: Callable[[Model], float | Tensor], epoch: int) -> float:
    with torch.no_grad():
        value = float(score(model.eval()))
    if math.isnan(value):
        raise InvalidData(f"score after epoch {epoch}", "a number", value)
    return value


def _batches(model: Model, loss: Callable[[Model], Tensor | Iterator[Tensor]]) -> Iterator[Tensor]:
    result = loss(model)
    return iter([result]) if isinstance(result, Tensor) else result


def _step(loss: Tensor, optimizer: Optimizer, settings: TrainingSettings, epoch: int) -> float:
    value = float(loss.detach())
    if not math.isfinite(value):
        raise InvalidData(f"loss of epoch {epoch + 1}", "finite", value)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    if settings.max_grad_norm is not None:
        moved = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        nn.utils.clip_grad_norm_(moved, settings.max_grad_norm)
    optimizer.step()
    return value


def _copy(model: nn.Module) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in model.state_dict().items()}


def _silent(epoch: int, loss: float, score: float) -> None:
    """Show nothing, in the place of a progress bar."""


@contextmanager
def fixed_weights() -> Iterator[None]:
    """Open a stretch in which the caller promises to change no weight, so that ``shared`` may remember results."""
    token = _remembered.set({})
    try:
        yield
    finally:
        _remembered.reset(token)


def shared(function: Callable[..., Tensor], *arguments: object) -> Tensor:
    """Call a function, once for the same objects within ``fixed_weights`` and always outside it.

    The gradient is recorded even where the first caller needs none, for the caller that does.

    Args:
        function: A function free of randomness and of training mode.
        *arguments: Its arguments.
    """
    remembered = _remembered.get()
    if remembered is None:
        return function(*arguments)
    key = (function, *map(id, arguments))
    if key not in remembered:
        with torch.enable_grad():
            remembered[key] = function(*arguments), arguments  # the arguments are kept so that no id is used again
    result, _ = remembered[key]
    return result if torch.is_grad_enabled() else result.detach()


@contextmanager
def seeded(seed: int | None) -> Iterator[None]:
    """Let torch draw from a seed; afterwards the global generator goes on as if nothing had happened.

    Initial weights are drawn when a model is made, so a whole run repeats if the model is made within it too.

    Args:
        seed: The seed; None changes nothing.

    >>> with seeded(7):
    ...     first = torch.rand(2)
    >>> with seeded(7):
    ...     second = torch.rand(2)
    >>> torch.equal(first, second)
    True
    """
    if seed is None:
        yield
        return
    devices = [torch.cuda.current_device()] if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield
