"""The memory of a worker: buffers that are used again, and how many columns fit at a time."""

from __future__ import annotations

import threading

import torch

from privet.errors import InvalidParameter
from privet.graph.csr import empty

__all__ = ["Workspace", "columns_at_once"]

# The rest is for the interpreter with its libraries, mapped blocks and the chunks in work. Dask pauses a worker at 0.8.
_SHARE = 0.5


class Workspace:
    """Buffers of one thread: fresh memory can cost as much as the hop that fills it."""

    _threads = threading.local()

    def __init__(self) -> None:
        self._buffers: dict[str, torch.Tensor] = {}

    @classmethod
    def of_this_thread(cls) -> Workspace:
        """Return the calling thread's workspace."""
        if not hasattr(cls._threads, "workspace"):
            cls._threads.workspace = cls()
        found: Workspace = cls._threads.workspace
        return found

    def vector(self, name: str, size: int, dtype: torch.dtype) -> torch.Tensor:
        """Return a vector of any content.

        Args:
            name: The buffer's name.
            size: The number of elements.
            dtype: Their type.
        """
        buffer = self._buffers.get(name)
        if buffer is None or buffer.dtype != dtype or len(buffer) < size:
            self._buffers.pop(name, None)
            del buffer  # before the larger one is made
            self._buffers[name] = buffer = empty(size, 1, dtype).view(-1)
        return buffer[:size]

    def matrix(self, name: str, rows: int, columns: int, dtype: torch.dtype) -> torch.Tensor:
        """Return a matrix of any content.

        Args:
            name: The buffer's name.
            rows: The number of rows.
            columns: The number of columns.
            dtype: The type of the values.
        """
        return self.vector(name, rows * columns, dtype).view(rows, columns)

    def ones(self, size: int, dtype: torch.dtype) -> torch.Tensor:
        """Return a vector of ones.

        Args:
            size: The number of elements.
            dtype: Their type.
        """
        buffer = self._buffers.get("ones")
        if buffer is None or buffer.dtype != dtype or len(buffer) < size:
            self._buffers["ones"] = buffer = torch.ones(size, dtype=dtype)
        return buffer[:size]


def columns_at_once(rows: int, width: int, itemsize: int) -> int:
    """Return how many columns of a matrix this worker can hold.

    Args:
        rows: The number of rows.
        width: The number of columns that there are.
        itemsize: The bytes of a number.
    """
    limit = _memory_limit()
    if not limit or not rows:
        return width
    fit = int(limit * _SHARE) // (rows * itemsize)
    if not fit:
        raise InvalidParameter(
            f"A partition refers to {rows} nodes, more than a worker with {limit} bytes can hold. Build the store with "
            "more partitions, or give the workers more memory."
        )
    return min(width, fit)


def _memory_limit() -> int | None:
    """Return the memory limit of the Dask worker that runs this, in bytes, or None outside of one."""
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:
        return None
    limit: int | None = worker.memory_manager.memory_limit
    return limit
