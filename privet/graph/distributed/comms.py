"""Columns that stay with the workers, for machines that share the store and no other directory.

Every block is the result of a Dask task. A hop cuts the halo's rows out of each block where it lies, sends them, and
multiplies where the partition's own block lies; what a killed worker held Dask computes again from what is left. Dask
also moves blocks to the worker's disk when its memory fills up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from privet.data.store import GraphStore
from privet.data.store.running import results_of
from privet.errors import InvalidData
from privet.graph.distributed.columns import Columns
from privet.graph.distributed.graph import ClusterGraph
from privet.graph.distributed.kernel import HopReport, Product, multiply
from privet.graph.distributed.scales import Normalisation, opened, scales_of

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["CommsGraph", "HeldColumns"]


@dataclass(frozen=True, eq=False)
class _Held:
    """A block on a worker, with the report of the hop that made it."""

    rows: NDArray[Any]
    report: HopReport | None = None

    def __sizeof__(self) -> int:
        return self.rows.nbytes  # by which Dask decides what to move to disk


class HeldColumns(Columns):
    """Columns whose blocks are held by workers.

    Args:
        graph: The graph.
        futures: The futures of the blocks.
        width: The number of columns.
        dtype: The type of the numbers.
    """

    def __init__(self, graph: ClusterGraph, futures: list[Any], width: int, dtype: DTypeLike) -> None:
        self.graph, self.futures, self.width, self.dtype = graph, futures, width, np.dtype(dtype)

    def block(self, partition: int) -> NDArray[Any]:
        """Fetch the rows of one partition, in the order of its nodes.

        Args:
            partition: The partition's number.
        """
        rows: NDArray[Any] = self.futures[partition].result().rows
        return rows

    def close(self) -> None:
        """Let the workers forget the blocks."""
        self.futures.clear()


class CommsGraph(ClusterGraph):
    """A stored graph whose columns stay with the workers.

    :meth:`columns` passes the array through the scheduler; make large columns with :meth:`map`.

    Args:
        store: The graph, which all workers reach under the same path.
        client: The workers' client.
    """

    client: Client

    def __init__(self, store: GraphStore, client: Client) -> None:
        super().__init__(store, client)

    def columns(self, array: Any) -> Columns:
        """Send an array to the workers.

        Args:
            array: One row for each id: a NumPy array or a tensor, of one or two dimensions.
        """
        values = self.checked(array)
        blocks = [values[self.store.partition(number).ids] for number in range(self.store.num_partitions)]
        futures = self._submit(_hold, [(block,) for block in blocks], self._spread())
        self._wait(futures)
        return HeldColumns(self, futures, values.shape[1], values.dtype)

    def map(
        self, function: Callable[..., Any], *columns: Columns, width: int, dtype: DTypeLike = np.float32
    ) -> Columns:
        """Make columns partition by partition, where their inputs lie; see :meth:`ClusterGraph.map`.

        Args:
            function: Takes a partition and its block of each of ``columns``; returns its rows.
            columns: The columns that it needs.
            width: The number of columns that it makes.
            dtype: Their type.
        """
        homes = self._homes(columns[0]) if columns else self._spread()
        made = (width, np.dtype(dtype).str)
        arguments = [(function, self.store.path, number, made, *_of(columns, number)) for number in self._partitions()]
        futures = self._submit(_compute, arguments, homes)
        self._wait(futures)
        return HeldColumns(self, futures, width, dtype)

    def each(self, function: Callable[..., Any], *columns: Columns) -> list[Any]:
        """Compute something small for every partition; see :meth:`ClusterGraph.each`.

        Args:
            function: Takes a partition and its block of each of ``columns``.
            columns: The columns that it needs.
        """
        homes = self._homes(columns[0]) if columns else self._spread()
        arguments = [(function, self.store.path, number, None, *_of(columns, number)) for number in self._partitions()]
        found = dict(results_of(self._submit(_compute, arguments, homes), self.client))
        return [found[number] for number in self._partitions()]

    def prepare(self, normalisation: Normalisation, dtype: DTypeLike) -> Path:
        """Check the store's files, once.

        Args:
            normalisation: The operator, whose scales a hop computes where it needs them.
            dtype: The type of the columns.
        """
        if not self._prepared:
            self.each(_check)
            self._prepared.add("checked")
        return self.scratch

    def hop(
        self, normalisation: Normalisation, x: Columns, added: Columns | None, factor: float, coefficient: float
    ) -> tuple[Columns, list[HopReport]]:
        """Compute factor A x + coefficient added; see :meth:`ClusterGraph.hop`.

        Args:
            normalisation: A.
            x: The columns.
            added: Columns to add, or None.
            factor: The coefficient of A x.
            coefficient: The coefficient of ``added``.
        """
        self.prepare(normalisation, x.dtype)
        homes, held = self._homes(x), _of((x,), None)[0]
        path, parts = self.store.path, []
        for number in self._partitions():
            owners = [owner for owner, _ in self.store.partition(number).halo_groups()]
            cuts = self._submit(
                _cut, [(held[owner], path, number, owner) for owner in owners], [homes[owner] for owner in owners]
            )
            terms = (normalisation, factor, coefficient)
            extra = _of((added,), number) if added is not None else ()
            arguments = (path, number, terms, dict(zip(owners, cuts, strict=True)), held[number], *extra)
            parts += self._submit(_hop, [arguments], [homes[number]])
        found = dict(results_of(self.client.map(attrgetter("report"), parts, pure=False), self.client))
        return HeldColumns(self, parts, x.width, x.dtype), [found[number] for number in self._partitions()]

    def _partitions(self) -> range:
        return range(self.store.num_partitions)

    def _submit(
        self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], homes: list[Any]
    ) -> list[Any]:
        return [
            self.client.submit(function, *each, workers=home, allow_other_workers=home is not None, pure=False)
            for each, home in zip(arguments, homes, strict=True)
        ]

    def _wait(self, futures: list[Any]) -> None:
        """Wait for blocks without fetching them; an error is raised here."""
        dict(results_of(self.client.map(_done, futures, pure=False), self.client))

    def _spread(self) -> list[Any]:
        """Deal the partitions to the workers that there are."""
        workers = cycle(sorted(self.client.scheduler_info(n_workers=-1)["workers"]) or [None])
        return [next(workers) for _ in self._partitions()]

    def _homes(self, columns: Columns) -> list[Any]:
        """Return the workers that hold each block now."""
        futures = _of((columns,), None)[0]
        held = self.client.who_has(futures)
        return [list(held.get(future.key) or ()) or None for future in futures]


def _of(columns: Sequence[Columns | None], number: int | None) -> tuple[Any, ...]:
    """Return the futures of some columns, all or those of one partition."""
    found = [each.futures for each in columns if isinstance(each, HeldColumns)]
    return tuple(found if number is None else [futures[number] for futures in found])


def _hold(block: NDArray[Any]) -> _Held:
    return _Held(block)


def _done(_: Any) -> None:
    return None


def _check(partition: Any) -> None:
    partition.check()


def _compute(function: Callable[..., Any], path: Path, number: int, made: tuple[int, str] | None, *held: _Held) -> Any:
    partition = opened(path).partition(number)
    result = function(partition, *(each.rows for each in held))
    if made is None:
        return result
    block = np.asarray(result, dtype=made[1])
    if block.shape != (partition.entry.rows, made[0]):
        expected = f"of shape {(partition.entry.rows, made[0])}"
        raise InvalidData(f"block of partition {number}", expected, f"shape {block.shape}")
    return _Held(block)


def _cut(held: _Held, path: Path, number: int, owner: int) -> NDArray[Any]:
    """Cut the rows that a partition needs out of another one's block."""
    return held.rows[dict(opened(path).partition(number).halo_groups())[owner]]


def _hop(
    path: Path,
    number: int,
    terms: tuple[Normalisation, float, float],
    cuts: dict[int, NDArray[Any]],
    own: _Held,
    added: _Held | None = None,
) -> _Held:
    partition = opened(path).partition(number)
    normalisation, factor, coefficient = terms
    rows = partition.entry.rows
    left, right = scales_of(partition, normalisation, own.rows.dtype)
    result = np.empty_like(own.rows)

    def fill(x: NDArray[Any], first: int, last: int) -> int:
        np.copyto(x[:rows], own.rows[:, first:last])
        filled, moved = rows, 0
        for owner in sorted(cuts):
            taken = x[filled : filled + len(cuts[owner])]
            np.copyto(taken, cuts[owner][:, first:last])
            filled += len(taken)
            moved += taken.nbytes
        return moved

    def put(start: int, first: int, block: NDArray[Any]) -> None:
        result[start : start + len(block), first : first + block.shape[1]] = block

    product = Product(
        partition=partition,
        normalisation=normalisation,
        left=left,
        right=right,
        width=own.rows.shape[1],
        dtype=own.rows.dtype,
        added=None if added is None else added.rows,
        factor=factor,
        coefficient=coefficient,
    )
    return _Held(result, multiply(product, fill, put))
