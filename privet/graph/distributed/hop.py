"""A hop from columns in files to columns in files: one task for each partition, on any worker."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.data.store.files import mapped, writing
from privet.data.store.reading import StoredPartition
from privet.graph.distributed.columns import block_path, read_block
from privet.graph.distributed.kernel import HopReport, Product, multiply, read_into
from privet.graph.distributed.scales import Normalisation, opened, scale_paths

__all__ = ["HopTask", "run_hop"]


@dataclass(frozen=True)
class HopTask:
    """A partition's part of a hop.

    Attributes:
        store: The store's directory.
        partition: The partition's number.
        normalisation: The operator.
        scales: The directory of the operator's scales.
        source: The directory of x.
        target: The directory of the result.
        width: The number of columns.
        dtype: Their type, as NumPy spells it.
        added: The directory of columns z to add, or None.
        factor: The result is factor A x + coefficient z.
        coefficient: As above.
    """

    store: Path
    partition: int
    normalisation: Normalisation
    scales: Path
    source: Path
    target: Path
    width: int
    dtype: str
    added: Path | None = None
    factor: float = 1.0
    coefficient: float = 0.0


def run_hop(task: HopTask) -> HopReport:
    """Compute a partition's rows of factor A x + coefficient z and put them in place.

    Args:
        task: The partition's part.
    """
    partition = opened(task.store).partition(task.partition)
    rows = partition.entry.rows
    left, right = scale_paths(task.scales, task.partition)
    product = Product(
        partition=partition,
        normalisation=task.normalisation,
        left=mapped(left) if task.normalisation.left else None,
        right=mapped(right) if task.normalisation.right else None,
        width=task.width,
        dtype=np.dtype(task.dtype),
        added=None if task.added is None else read_block(task.added, task.partition, rows, task.width, task.dtype),
        factor=task.factor,
        coefficient=task.coefficient,
    )
    path = block_path(task.target, task.partition)
    with writing(path, flush=False) as temporary, _Target(temporary, rows, task.width, task.dtype) as target:
        return multiply(product, partial(_load, task, partition), target.put)


def _load(task: HopTask, partition: StoredPartition, x: NDArray[Any], first: int, last: int) -> int:
    """Read the columns first to last of the partition's rows and its halo's; return the bytes of the halo's."""
    rows = partition.entry.rows
    own = read_block(task.source, task.partition, rows, task.width, task.dtype)
    if last - first == task.width:
        read_into(block_path(task.source, task.partition), x[:rows], 0)
    else:
        np.copyto(x[:rows], own[:, first:last])
    filled, moved = rows, 0
    for owner, places in partition.halo_groups():
        taken = x[filled : filled + len(places)]
        size = partition.store.manifest.partitions[owner].rows
        block = read_block(task.source, owner, size, task.width, task.dtype)
        # With mode "clip" NumPy writes straight into x; the store's checksums vouch for the places.
        np.take(block[:, first:last], places, axis=0, out=taken, mode="clip")
        del block  # a mapped block counts as this process's memory
        filled += len(places)
        moved += taken.nbytes
    return moved


class _Target:
    """A .npy file that takes rows in their order, or, for a part of the columns, at their place."""

    def __init__(self, path: Path, rows: int, width: int, dtype: str) -> None:
        self._path, self._width = path, width
        self._view: NDArray[Any] | None = None
        self._file = path.open("wb")
        np.lib.format.write_array_header_1_0(
            self._file, {"descr": dtype, "fortran_order": False, "shape": (rows, width)}
        )
        self._size = self._file.tell() + rows * width * np.dtype(dtype).itemsize

    def __enter__(self) -> _Target:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def put(self, start: int, first: int, rows: NDArray[Any]) -> None:
        """Write rows from a row and a column on."""
        if rows.shape[1] == self._width:
            self._file.write(rows.data.cast("B"))
            return
        if self._view is None:
            self._file.truncate(self._size)
            self._file.flush()
            self._view = np.load(self._path, mmap_mode="r+")
        self._view[start : start + len(rows), first : first + rows.shape[1]] = rows
