"""The arithmetic of a partition's part of a hop, wherever its rows come from and go to.

y = factor L (A (R x) + s R x) + coefficient z, with the partition's rows of the pattern A, diagonal scales L and R and
loops s. R x is made for the partition's own rows and its halo's, which are all that A refers to; A itself is streamed
from its file in chunks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from privet.data.store.files import reading
from privet.data.store.reading import StoredPartition
from privet.errors import InvalidData
from privet.graph.csr import csr_tensor, spmm
from privet.graph.distributed.scales import Normalisation
from privet.graph.distributed.workspace import Workspace, columns_at_once

__all__ = ["HopReport", "Product", "multiply", "read_into"]

_ENTRIES, _ROWS = 1 << 20, 1 << 16  # of the adjacency that are multiplied at a time


@dataclass(frozen=True)
class HopReport:
    """A finished part of a hop.

    Attributes:
        moved: The bytes of other partitions' rows that it took.
        seconds: The time that it took.
        kernel_seconds: The time of the sparse products alone.
    """

    moved: int
    seconds: float
    kernel_seconds: float


@dataclass(frozen=True, eq=False)
class Product:
    """A partition's part of a hop.

    Attributes:
        partition: The partition.
        normalisation: The operator.
        left: L of the partition's rows, or None for ones.
        right: R of the partition's rows and its halo's, or None for ones.
        width: The number of columns.
        dtype: Their type.
        added: The partition's rows of z, or None.
        factor: The coefficient of A x.
        coefficient: The coefficient of z.
    """

    partition: StoredPartition
    normalisation: Normalisation
    left: NDArray[Any] | None
    right: NDArray[Any] | None
    width: int
    dtype: np.dtype[Any]
    added: NDArray[Any] | None
    factor: float
    coefficient: float


def multiply(
    product: Product,
    fill: Callable[[NDArray[Any], int, int], int],
    put: Callable[[int, int, NDArray[Any]], None],
) -> HopReport:
    """Compute a partition's part of a hop, as many columns at a time as the worker's memory holds.

    Args:
        product: The part.
        fill: Writes some columns, given by the first and the one after the last, of the partition's rows of x and of
            its halo's; returns the bytes that came from other partitions.
        put: Takes finished rows with their first row and first column.
    """
    began = time.perf_counter()
    entry = product.partition.entry
    kind = torch.from_numpy(np.empty(0, product.dtype)).dtype
    at_once = columns_at_once(entry.rows + entry.halo, product.width, kind.itemsize)
    work = Workspace.of_this_thread()
    moved, kernel = 0, 0.0
    for first in range(0, product.width, at_once):
        last = min(first + at_once, product.width)
        x = work.matrix("x", entry.rows + entry.halo, last - first, kind)
        rows = x.numpy()
        moved += fill(rows, first, last)
        if product.right is not None:
            for start in range(0, len(rows), _ROWS):  # in pieces that stay in the cache
                rows[start : start + _ROWS] *= product.right[start : start + _ROWS, None]
        kernel += _multiply(product, x, work, put, first, last)
    return HopReport(moved, time.perf_counter() - began, kernel)


def _multiply(
    product: Product,
    x: torch.Tensor,
    work: Workspace,
    put: Callable[[int, int, NDArray[Any]], None],
    first: int,
    last: int,
) -> float:
    """Compute the columns first to last of the result; return the seconds of the sparse products."""
    weight = product.normalisation.loop_weights(product.partition)
    spent = 0.0
    for start, stop, matrix in _chunks(product.partition, x, work):
        out = work.matrix("y", stop - start, last - first, x.dtype)
        began = time.perf_counter()
        spmm(matrix, x, out=out)
        spent += time.perf_counter() - began
        y = out.numpy()
        if weight is not None:
            y += x[start:stop].numpy() * weight[start:stop, None]
        if product.left is not None:
            y *= product.left[start:stop, None]
        if product.factor != 1.0:
            y *= product.factor
        if product.added is not None:
            y += np.asarray(product.coefficient, y.dtype) * product.added[start:stop, first:last]
        put(start, first, y)
    return spent


def _chunks(partition: StoredPartition, x: torch.Tensor, work: Workspace) -> Iterator[tuple[int, int, torch.Tensor]]:
    """Read the adjacency in chunks of rows, each as a matrix over the columns of x."""
    pointers = partition.pointers
    rows = partition.entry.rows
    path = partition.folder / "columns.npy"
    start = 0
    while start < rows:
        limit = int(np.searchsorted(pointers, pointers[start] + _ENTRIES, side="right")) - 1
        stop = min(max(limit, start + 1), start + _ROWS, rows)
        places = pointers[start : stop + 1] - pointers[start]
        columns = work.vector("columns", int(places[-1]), torch.int32)
        read_into(path, columns.numpy(), int(pointers[start]))
        ones = work.ones(int(places[-1]), x.dtype)
        crow = torch.from_numpy(places.astype(np.int32))  # a row has fewer entries than the partition has nodes
        yield start, stop, csr_tensor(crow, columns, ones, (stop - start, x.shape[0]))
        start = stop


def read_into(path: Path, array: NDArray[Any], skip: int) -> None:
    """Fill an array from a .npy file; unlike a mapping this costs no memory of its own.

    Args:
        path: The file.
        array: The array to fill.
        skip: The number of elements to leave out at the file's beginning.
    """
    if not array.size:
        return
    with reading(path), path.open("rb") as file:
        np.lib.format.read_magic(file)
        np.lib.format.read_array_header_1_0(file)
        file.seek(skip * array.itemsize, 1)
        if file.readinto(array.data.cast("B")) != array.nbytes:
            raise InvalidData(f"{path} is damaged: it ends too early.")
