"""Exact sums of outer products of integers, by products of bytes where the processor computes them exactly.

An integer n of at most 2^14 in size has two digits, n = 256 high + low, which bytes hold. A product of digits' matrices
adds up 32-bit integers, several times as fast as doubles do. Processors with VNNI instructions add without saturation,
so the sum is exact; all others, and versions of torch without such a product, take doubles, which are exact too.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["LARGEST", "OuterSum", "Scaled", "multiplies_bytes"]

LARGEST = 2**14
"""The largest size of an integer in a product."""

_AT_ONCE = 1024  # rows whose products, of at most 2^28 each, add up to at most 2^38
_MOST_ROWS = 2**16  # their products of digits, of at most 2^14 each, add up to at most 2^30
_LAST_BITS = 1.5 * 2.0**23  # plus an integer is a number in single precision whose last bits are that integer


class Scaled(NamedTuple):
    """Rows of integers: each row is multiplied by its factor and rounded.

    Attributes:
        rows: The rows.
        factors: The factors; 0 makes zeros of a row, whatever it is.
        ends: True if a 1 stands behind each row, which is multiplied like the others.
    """

    rows: Tensor
    factors: NDArray[np.float64]
    ends: bool = False

    def some(self, part: slice) -> Scaled:
        """Return some of the rows."""
        return Scaled(self.rows[part], self.factors[part], self.ends)

    def integers(self) -> Tensor:
        """Return the integers in single precision."""
        return self._products().round_()

    def digits(self) -> Tensor:
        """Return their digits in bytes: of each integer the low one, from -128 to 127, and the high one."""
        # n + 128 = 256 high + (low + 128): the second byte is high, the first one low with its highest bit turned over
        last = self._products().add_(_LAST_BITS + 128).view(torch.int32)
        return last.to(torch.int16).bitwise_xor_(128).view(torch.int8)

    def _products(self) -> Tensor:
        count, columns = self.rows.shape
        factors = torch.from_numpy(self.factors)
        found = torch.empty(count, columns + self.ends)
        torch.mul(self.rows, factors.to(self.rows.dtype)[:, None], out=found[:, :columns])
        if self.ends:
            found[:, -1] = factors
        if not self.factors.all():
            found[factors == 0] = 0.0
        return found


class OuterSum:
    """The sum of outer products q yᵀ over rows that come in groups.

    Args:
        outputs: The length of q.
        inputs: The length of y.
    """

    def __init__(self, outputs: int, inputs: int) -> None:
        self._total = torch.zeros(outputs, inputs, dtype=torch.int64)
        self._digits: Tensor | None = None
        self._rows = 0

    def add(self, left: Scaled, right: Scaled) -> None:
        """Add the outer products of some rows.

        Args:
            left: The vectors q, one a row: integers of at most 2^14.
            right: The vectors y.
        """
        for start in range(0, len(left.rows), _AT_ONCE):
            q, y = (each.some(slice(start, start + _AT_ONCE)) for each in (left, right))
            if multiplies_bytes():
                self._add_digits(q, y)
            else:
                self._total += (q.integers().double().T @ y.integers().double()).long()

    def _add_digits(self, q: Scaled, y: Scaled) -> None:
        products = torch._int_mm(q.digits().T, y.digits())
        if self._rows + len(q.rows) > _MOST_ROWS:
            self._settle()
        self._digits = products if self._digits is None else self._digits.add_(products)
        self._rows += len(q.rows)

    def total(self) -> Tensor:
        """Return the sum, one row for each entry of q, as 64-bit integers."""
        self._settle()
        return self._total

    def _settle(self) -> None:
        """Move the sums of products of digits into the total."""
        if self._digits is None:
            return
        outputs, inputs = self._total.shape
        low, high = self._digits.view(outputs, 2, inputs, 2).unbind(1)
        mixed = low[..., 1] + high[..., 0]  # products of a low and a high digit are at most 2^13
        self._total += high[..., 1].long().mul_(256).add_(mixed).mul_(256).add_(low[..., 0])
        self._digits, self._rows = None, 0


@cache
def multiplies_bytes() -> bool:
    """Tell whether products of bytes are exact here: by VNNI instructions, and with torch's product."""
    supported: Any = getattr(torch.cpu, "_is_vnni_supported", lambda: False)
    return hasattr(torch, "_int_mm") and sys.byteorder == "little" and bool(supported())
