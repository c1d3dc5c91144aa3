"""Columns of numbers about all nodes of a stored graph, on disk."""

from __future__ import annotations

import shutil
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from privet.data.store.files import mapped, writing
from privet.data.store.manifest import folder_of
from privet.errors import InvalidData

if TYPE_CHECKING:
    from privet.graph.distributed.graph import ClusterGraph

__all__ = ["Columns", "block_path", "read_block", "write_block"]


class Columns:
    """A dense matrix with one row for each node, one file for each partition; removed with the object.

    Args:
        folder: The directory of the files.
        width: The number of columns.
        dtype: The type of the numbers.
    """

    def __init__(self, graph: ClusterGraph, folder: Path, width: int, dtype: DTypeLike) -> None:
        self.graph, self.folder, self.width, self.dtype = graph, folder, width, np.dtype(dtype)
        self._finalizer = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    def __repr__(self) -> str:
        return f"Columns({self.graph.store.num_nodes} x {self.width}, {self.dtype})"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.graph.store.num_nodes, self.width

    def block(self, partition: int) -> NDArray[Any]:
        """Map the rows of one partition, in the order of its nodes.

        Args:
            partition: The partition's number.
        """
        rows = self.graph.store.manifest.partitions[partition].rows
        return read_block(self.folder, partition, rows, self.width, self.dtype)

    def take(self, ids: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """Load the rows of some nodes, in the order given.

        Args:
            ids: The nodes' ids.
        """
        store = self.graph.store
        rows = store.rows_of(ids)
        owners = np.searchsorted(store.starts, rows, side="right") - 1
        result = np.empty((len(rows), self.width), self.dtype)
        for number in np.unique(owners):
            own = np.flatnonzero(owners == number)
            result[own] = self.block(int(number))[rows[own] - store.starts[number]]
        return result

    def numpy(self) -> NDArray[Any]:
        """Load all rows, in the order of ids."""
        result = np.empty(self.shape, self.dtype)
        for number in range(self.graph.store.num_partitions):
            result[self.graph.store.partition(number).ids] = self.block(number)
        return result

    def close(self) -> None:
        """Remove the files now."""
        self._finalizer()


def block_path(folder: Path, partition: int) -> Path:
    """Return the file of a partition's rows.

    Args:
        folder: The directory of the columns.
        partition: The partition's number.
    """
    return folder / f"{folder_of(partition)}.npy"


def read_block(folder: Path, partition: int, rows: int, width: int, dtype: DTypeLike) -> NDArray[Any]:
    """Map a partition's rows, checked to be whole.

    Args:
        folder: The directory of the columns.
        partition: The partition's number.
        rows: The number of rows that there must be.
        width: The number of columns that there must be.
        dtype: The type of the numbers.
    """
    path = block_path(folder, partition)
    block = mapped(path)
    if block.shape != (rows, width) or block.dtype != np.dtype(dtype):
        raise InvalidData(f"{path} is damaged: it holds {block.dtype} of shape {block.shape}, not {(rows, width)}.")
    return block


def write_block(folder: Path, partition: int, block: NDArray[Any]) -> None:
    """Write a partition's rows, whole or not at all.

    Args:
        folder: The directory of the columns.
        partition: The partition's number.
        block: The rows.
    """
    with writing(block_path(folder, partition), flush=False) as temporary, temporary.open("wb") as file:
        np.save(file, np.ascontiguousarray(block), allow_pickle=False)
