"""One forward pass for two uses: results that scoring a model and its next step share are computed once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor

__all__ = ["fixed_weights", "shared"]

_remembered: ContextVar[dict[tuple[Any, ...], tuple[Tensor, tuple[Any, ...]]] | None]
_remembered = ContextVar("remembered", default=None)


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
