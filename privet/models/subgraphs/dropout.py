"""Dropout in which a sub-graph's coins are a function of its own key, whoever else is in the batch.

Coins from one common stream would move when somebody joins the batch. Here the coin of an entry is a hash of the key of
the sub-graph, the number of the call and the entry's place.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

__all__ = ["KeyedDropout", "mixed"]

_STEP, _FIRST, _SECOND = -7046029254386353131, -4658895280553007687, -7723592293110705685  # of SplitMix64
_COIN = 2**31


class KeyedDropout(TorchFunctionMode):
    """Replace dropout by a keyed one within a ``with`` block.

    Args:
        key: The key of the sub-graph, a 64-bit integer; a mapped one under ``vmap``.
    """

    def __init__(self, key: Tensor) -> None:
        super().__init__()
        self.key = key
        self._calls = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is functional.dropout or func is torch.dropout:
            return self._dropped(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))

    def _dropped(self, rows: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        if not training or not p:
            return rows
        self._calls += 1
        call = torch.tensor(self._calls) * _SECOND  # in a tensor, where products wrap around
        places = torch.arange(1, 1 + rows.numel()) * _STEP
        coins = mixed(mixed(self.key + call) + places) & (_COIN - 1)
        kept = (coins >= round(p * _COIN)).reshape(rows.shape)
        return rows * kept.to(rows.dtype) / max(1.0 - p, 1e-30)


def mixed(words: Tensor) -> Tensor:
    """Return a hash of 64-bit integers (the last step of SplitMix64).

    Args:
        words: Integers.
    """
    words = (words ^ _shifted(words, 30)) * _FIRST
    words = (words ^ _shifted(words, 27)) * _SECOND
    return words ^ _shifted(words, 31)


def _shifted(words: Tensor, by: int) -> Tensor:
    """Shift right without the sign."""
    return torch.bitwise_and(words >> by, 2 ** (64 - by) - 1)
