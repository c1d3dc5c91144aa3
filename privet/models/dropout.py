"""Dropout from random bytes, which cost a tenth of the coins that torch tosses one by one."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["Dropout", "kept_entries"]

_BYTE, _WORD = 256, 65536


class Dropout(nn.Dropout):
    """Set a share of the entries to 0 in training and scale the others up, as :class:`torch.nn.Dropout` does.

    The share is rounded to a multiple of 1/65536, and to one of 1/256 exactly where it is one. Coins come from torch's
    global generator.

    Args:
        p: The share of entries that a training step sets to 0.
    """

    def forward(self, x: Tensor) -> Tensor:
        return x * kept_entries(x.shape, self.p, x.dtype) if self.training and self.p else x


def kept_entries(shape: tuple[int, ...], share: float, dtype: torch.dtype = torch.float32) -> Tensor:
    """Draw a factor for each entry: 0 for the share of dropped ones, 1 / (1 - share) for the others.

    Args:
        shape: The shape of the matrix.
        share: The share of entries to drop, below 1; rounded as in :class:`Dropout`.
        dtype: The type of the factors.
    """
    sides = _BYTE if (share * _BYTE).is_integer() else _WORD
    dropped = min(round(share * sides), sides - 1)
    count = torch.Size(shape).numel()
    words = torch.empty(-(-count * (2 if sides == _WORD else 1) // 8), dtype=torch.int64).random_(-(2**63), None)
    coins = words.view(torch.uint8 if sides == _BYTE else torch.int16)[:count].view(shape)
    threshold = dropped if sides == _BYTE else dropped - _WORD // 2  # 16 bits are signed
    return (coins >= threshold).to(dtype).mul_(sides / (sides - dropped))
