"""A stored graph together with the workers that compute on it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from privet.data.store import GraphStore
from privet.data.store.running import run_tasks
from privet.errors import InvalidData, InvalidParameter
from privet.graph.distributed.columns import Columns, read_block, write_block
from privet.graph.distributed.hop import HopTask, run_hop
from privet.graph.distributed.kernel import HopReport
from privet.graph.distributed.scales import Normalisation, ScaleTask, opened, prepare_scales

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["ClusterGraph"]


class ClusterGraph:
    """A stored graph, the workers that compute on it and a directory for their columns.

    Args:
        store: The graph.
        client: The workers' client; None computes in this process, still within one partition's memory.
        scratch: An existing directory that all workers reach under the same path, where a new one is made and removed
            in the end; the operating system's directory for temporary files by default.
    """

    def __init__(
        self,
        store: GraphStore,
        client: Client | None = None,
        scratch: str | os.PathLike[str] | None = None,
    ) -> None:
        self.store, self.client = store, client
        try:
            self.scratch = Path(tempfile.mkdtemp(prefix="privet-", dir=scratch))
        except OSError as error:
            raise InvalidParameter(f"{scratch} cannot hold temporary files: {error.strerror}.") from error
        self._numbers = count()
        self._prepared: set[str] = set()

    def __enter__(self) -> ClusterGraph:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove all columns."""
        shutil.rmtree(self.scratch, ignore_errors=True)

    def columns(self, array: Any) -> Columns:
        """Write an array to disk.

        Args:
            array: One row for each id: a NumPy array or a tensor, of one or two dimensions.
        """
        values = self.checked(array)
        result = self.new_columns(values.shape[1], values.dtype)
        for number in range(self.store.num_partitions):
            write_block(result.folder, number, values[self.store.partition(number).ids])
        return result

    def map(
        self, function: Callable[..., Any], *columns: Columns, width: int, dtype: DTypeLike = np.float32
    ) -> Columns:
        """Make columns partition by partition, on the workers.

        Args:
            function: Takes a :class:`privet.data.store.StoredPartition` and the partition's block of each of
                ``columns``; returns its rows, [rows, width], in the partition's order. It may run twice.
            columns: The columns that it needs.
            width: The number of columns that it makes.
            dtype: Their type.
        """
        result = self.new_columns(width, dtype)
        self._run(function, columns, result)
        return result

    def each(self, function: Callable[..., Any], *columns: Columns) -> list[Any]:
        """Compute something small for every partition, on the workers, and return it in the partitions' order.

        Args:
            function: Takes a :class:`privet.data.store.StoredPartition` and the partition's block of each of
                ``columns``; returns anything that can be pickled.
            columns: The columns that it needs.
        """
        return self._run(function, columns, None)

    def checked(self, array: Any) -> NDArray[Any]:
        """Return an array of two dimensions with one row for each node, or refuse it."""
        values = np.asarray(array)
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2 or len(values) != self.store.num_nodes:
            expected = f"one row for each of {self.store.num_nodes} nodes"
            raise InvalidParameter("array", expected, f"shape {values.shape}")
        return values

    def new_columns(self, width: int, dtype: DTypeLike) -> Columns:
        """Make an empty directory for columns.

        Args:
            width: The number of columns.
            dtype: Their type.
        """
        if width < 1:
            raise InvalidParameter("width", "an integer of at least 1", width)
        folder = self.scratch / f"columns-{next(self._numbers):06d}"
        folder.mkdir()
        return Columns(self, folder, width, dtype)

    def prepare(self, normalisation: Normalisation, dtype: DTypeLike) -> Path:
        """Compute an operator's scales once, and return their directory. The first time the store's files are checked.

        Args:
            normalisation: The operator.
            dtype: The type of the columns.
        """
        chosen, kind = normalisation, np.dtype(dtype)
        name = f"scales-{chosen.left}-{chosen.right}-{chosen.loops}-{kind.name}"
        folder = self.scratch / name
        if name not in self._prepared:
            folder.mkdir(exist_ok=True)
            numbers, check = range(self.store.num_partitions), not self._prepared
            tasks = [ScaleTask(self.store.path, number, chosen, folder, kind.str, check) for number in numbers]
            run_tasks(prepare_scales, tasks, self.client)
            self._prepared.add(name)
        return folder

    def hop(
        self, normalisation: Normalisation, x: Columns, added: Columns | None, factor: float, coefficient: float
    ) -> tuple[Columns, list[HopReport]]:
        """Compute factor A x + coefficient added; return the columns and each partition's report.

        Args:
            normalisation: A.
            x: The columns.
            added: Columns to add, or None.
            factor: The coefficient of A x.
            coefficient: The coefficient of ``added``.
        """
        scales = self.prepare(normalisation, x.dtype)
        result = self.new_columns(x.width, x.dtype)
        tasks = [
            HopTask(
                store=self.store.path,
                partition=number,
                normalisation=normalisation,
                scales=scales,
                source=x.folder,
                target=result.folder,
                width=x.width,
                dtype=x.dtype.str,
                added=None if added is None else added.folder,
                factor=factor,
                coefficient=coefficient,
            )
            for number in range(self.store.num_partitions)
        ]
        return result, run_tasks(run_hop, tasks, self.client)

    def _run(self, function: Callable[..., Any], columns: tuple[Columns, ...], result: Columns | None) -> list[Any]:
        inputs = tuple((each.folder, each.width, each.dtype.str) for each in columns)
        made = None if result is None else (result.folder, result.width, result.dtype.str)
        numbers = range(self.store.num_partitions)
        tasks = [_BlockTask(function, self.store.path, number, inputs, made) for number in numbers]
        return run_tasks(_run_block, tasks, self.client)


@dataclass(frozen=True)
class _BlockTask:
    function: Callable[..., Any]
    store: Path
    partition: int
    inputs: tuple[tuple[Path, int, str], ...]
    made: tuple[Path, int, str] | None


def _run_block(task: _BlockTask) -> Any:
    partition = opened(task.store).partition(task.partition)
    rows = partition.entry.rows
    blocks = [read_block(folder, task.partition, rows, width, dtype) for folder, width, dtype in task.inputs]
    result = task.function(partition, *blocks)
    if task.made is None:
        return result
    folder, width, dtype = task.made
    block = np.asarray(result, dtype=dtype)
    if block.shape != (rows, width):
        raise InvalidData(f"block of partition {task.partition}", f"of shape {(rows, width)}", f"shape {block.shape}")
    write_block(folder, task.partition, block)
    return None
