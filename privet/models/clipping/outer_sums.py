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

_AT_ONCE = 4096  # rows whose products, of at most 2^28 each, add up to at most 2^40
_MOST_ROWS = 2**16  # their products of digits, of at most 2^14 each, add up to at most 2^30


class OuterSum:
    """The sum of outer products q yᵀ over rows that come in blocks.

    Args:
        outputs: The length of q.
        inputs: The length of y.
    """

    def __init__(self, outputs: int, inputs: int) -> None:
        self._total = torch.zeros(outputs, inputs, dtype=torch.int64)
        self._digits = torch.zeros(2 * outputs, 2 * inputs, dtype=torch.int32) if multiplies_bytes() else None
        self._rows = 0

    def add(self, left: Tensor, right: Tensor) -> None:
        """Add the outer products of some rows.

        Args:
            left: The vectors q, one a row: integers of at most 2^14, in any floating type.
            right: The vectors y.
        """
        for start in range(0, len(left), _AT_ONCE):
            q, y = (rows[start : start + _AT_ONCE] for rows in (left, right))
            if self._digits is None:
                self._total += (q.double().T @ y.double()).long()
                continue
            if self._rows + len(q) > _MOST_ROWS:
                self._settle(self._digits)
            self._digits += torch._int_mm(_digits(q).T, _digits(y))
            self._rows += len(q)

    def total(self) -> Tensor:
        """Return the sum, one row for each entry of q, as 64-bit integers."""
        if self._digits is not None:
            self._settle(self._digits)
        return self._total

    def _settle(self, digits: Tensor) -> None:
        """Move the sums of products of digits into the total."""
        low, high = digits.reshape(-1, 2, digits.shape[1]).long().unbind(1)
        low, high = high.mul_(256).add_(low).reshape(*self._total.shape, 2).unbind(2)
        self._total.add_(low).add_(high, alpha=256)
        digits.zero_()
        self._rows = 0


def _digits(whole: Tensor) -> Tensor:
    """Return the digits of integers in bytes: of each the low one, from -128 to 127, and the high one."""
    # n + 128 = 256 high + (low + 128): the second byte is high, and the first one has low's bits but for its highest
    return whole.to(torch.int16).add_(128).bitwise_xor_(128).view(torch.int8)


@cache
def multiplies_bytes() -> bool:
    """Tell whether products of bytes are exact here: by VNNI instructions, and with torch's product."""
    supported: Any = getattr(torch.cpu, "_is_vnni_supported", lambda: False)
    return hasattr(torch, "_int_mm") and sys.byteorder == "little" and bool(supported())
