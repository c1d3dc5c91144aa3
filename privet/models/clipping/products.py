"""Products of matrices in single precision by the fastest kernel that torch has here.

oneDNN, which is part of torch, uses the widest registers of every maker's processors. MKL, torch's default, does so for
one maker's only: on others oneDNN takes half of its time.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor
from torch.nn.functional import pad

__all__ = ["even_product", "product"]


def product(rows: Tensor, matrix: Tensor) -> Tensor:
    """Return ``rows @ matrix``."""
    if rows.dtype is torch.float32 and min(*rows.shape, matrix.shape[1]) and _has_one_dnn():
        found: Tensor = torch.ops.mkldnn._linear_pointwise(rows, matrix.T, None, "none", [], "")
        return found
    return rows @ matrix


def even_product(rows: Tensor, matrix: Tensor, *, narrow: bool = True) -> Tensor:
    """Return the product, computed with a multiple of 16 columns and, of narrow rows, of terms.

    With fewer the kernels of common libraries add up in another order at other places of a block.

    Args:
        rows: The rows.
        matrix: The matrix.
        narrow: False for rows of many columns, which are taken as they are (default True).
    """
    terms, columns = -matrix.shape[0] % 16 if narrow else 0, -matrix.shape[1] % 16
    if not terms and not columns:
        return product(rows, matrix)
    padded = pad(matrix.T, (0, terms, 0, columns)).T  # oneDNN wants the columns one after another
    return product(pad(rows, (0, terms)) if terms else rows, padded)[:, : matrix.shape[1]]


@cache
def _has_one_dnn() -> bool:
    """Tell whether torch's own operation for products by oneDNN is there."""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")  # type: ignore[no-untyped-call]
