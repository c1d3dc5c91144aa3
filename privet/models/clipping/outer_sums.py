"""Exact sums of outer products of integers, by products of bytes where the processor computes them exactly.

An integer n of at most 2^14 in size has two digits, n = 256 high + low, which bytes hold. A product of digits' matrices
adds up 32-bit integers, several times as fast as doubles do. Processors with VNNI instructions add without saturation,
so the sum is exact; all others, and versions of torch without such a product, take doubles, which are exact too.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import torch
from torch import Tensor

__all__ = ["LARGEST", "OuterSum", "multiplies_bytes"]

LARGEST = 2**14
"""The largest size of an integer in a product."""

_AT_ONCE = 4096  # rows: their products of bytes, of at most 2^14 each, add up to at most 2^26, and others to 2^40


class OuterSum:
    """The sum of outer products q yᵀ over rows that come in blocks.

    Args:
        outputs: The length of q.
        inputs: The length of y.
    """

    def __init__(self, outputs: int, inputs: int) -> None:
        self._total = torch.zeros(outputs, inputs, dtype=torch.int64)
        self._left = torch.empty(_AT_ONCE, outputs, dtype=torch.int16)
        self._right = torch.empty(_AT_ONCE, inputs, dtype=torch.int16)
        self._rows = 0

    def add(self, left: Tensor, right: Tensor) -> None:
        """Add the outer products of some rows.

        Args:
            left: The vectors q, one a row: integers of at most 2^14, in any floating type.
            right: The vectors y.
        """
        for start in range(0, len(left), _AT_ONCE):
            q, y = (rows[start : start + _AT_ONCE] for rows in (left, right))
            if self._rows + len(q) > _AT_ONCE:
                self._settle()
            place = slice(self._rows, self._rows + len(q))
            self._left[place], self._right[place] = q, y
            self._rows += len(q)

    def total(self) -> Tensor:
        """Return the sum, one row for each entry of q, as 64-bit integers."""
        self._settle()
        return self._total

    def _settle(self) -> None:
        """Move the products of all rows that wait into the total."""
        if not self._rows:
            return
        left, right = self._left[: self._rows], self._right[: self._rows]
        if multiplies_bytes():
            _add_by_bytes(left, right, self._total)
        else:
            self._total += (left.double().T @ right.double()).long()
        self._rows = 0


def _add_by_bytes(left: Tensor, right: Tensor, total: Tensor) -> None:
    """Add the sum of outer products to the total, and leave digits in place of the integers."""
    found = torch._int_mm(_digits(left).T, _digits(right)).reshape(left.shape[1], 2, right.shape[1], 2)
    for high, low, shift in ((1, 1, 16), (1, 0, 8), (0, 1, 8), (0, 0, 0)):
        total.add_(found[:, high, :, low], alpha=1 << shift)


def _digits(whole: Tensor) -> Tensor:
    """Return the digits of integers in bytes: of each the low one, from -128 to 127, and the high one."""
    # n + 128 = 256 high + (low + 128): the second byte is high, and the first one has low's bits but for its highest
    return whole.add_(128).bitwise_xor_(128).view(torch.int8)


@cache
def multiplies_bytes() -> bool:
    """Tell whether products of bytes are exact here: by VNNI instructions, and with torch's product."""
    supported: Any = getattr(torch.cpu, "_is_vnni_supported", lambda: False)
    return hasattr(torch, "_int_mm") and sys.byteorder == "little" and bool(supported())
