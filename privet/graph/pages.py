"""Memory for results too large for the processor's page table cache.

A hop gathers rows of its input at random. With pages of 4 KiB and an input of hundreds of megabytes nearly every
gather misses the translation cache too, which nearly doubles the time of a hop; with pages of 2 MiB it does not.
"""

from __future__ import annotations

import mmap
from contextlib import suppress

import torch

__all__ = ["empty", "is_large"]

# malloc never reuses blocks above this size either, so that nothing is lost by mapping our own.
_LARGE = 32 * 2**20


def is_large(x: torch.Tensor) -> bool:
    """Return True if x is large enough for huge pages to matter.

    Args:
        x: A tensor.
    """
    return x.numel() * x.dtype.itemsize >= _LARGE


def empty(rows: int, columns: int, dtype: torch.dtype) -> torch.Tensor:
    """Make an uninitialised matrix, on huge pages where it is large and the operating system has them.

    Args:
        rows: The number of rows.
        columns: The number of columns.
        dtype: The type of the values.
    """
    size = rows * columns * dtype.itemsize
    if size < _LARGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return torch.empty(rows, columns, dtype=dtype)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):  # a kernel built without them: the memory is as good as any other
        memory.madvise(mmap.MADV_HUGEPAGE)
    return torch.frombuffer(memory, dtype=dtype).view(rows, columns)
