"""Seeds for torch that leave the caller's random numbers as they were."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["seeded"]


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
