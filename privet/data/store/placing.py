"""Dealing nodes to partitions, and the numbering that follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from privet.data.mixing import STEP_WORD, mixed_words
from privet.data.store.files import StoredFile, mapped, seal, writing
from privet.data.store.manifest import By

__all__ = ["Placement", "hashed", "place"]

_CHUNK = 1 << 22  # ids placed at a time


@dataclass(frozen=True, eq=False)
class Placement:
    """The store row of every node.

    Attributes:
        nodes: The number of nodes.
        by: How nodes were dealt to partitions.
        starts: The first store row of each partition, and the number of nodes last.
        folder: The directory with ``rows.npy`` and ``ids.npy``, each the inverse of the other; unused with ``by="id"``.
    """

    nodes: int
    by: By
    starts: NDArray[np.int64]
    folder: Path

    def rows(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the store rows of some ids."""
        return ids if self.by == "id" else np.asarray(mapped(self.folder / "rows.npy")[ids], dtype=np.int64)

    def ids(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the ids of some store rows.

        Args:
            rows: The store rows.
        """
        return rows if self.by == "id" else np.asarray(mapped(self.folder / "ids.npy")[rows], dtype=np.int64)


def place(
    folder: Path, nodes: int, partitions: int, by: By, parts: NDArray[np.integer] | None
) -> tuple[Placement, tuple[StoredFile, ...]]:
    """Number the nodes partition by partition; return the placement and the file that the store keeps of it.

    Args:
        folder: The directory for ``rows.npy`` and ``ids.npy``.
        nodes: The number of nodes.
        partitions: The number of partitions.
        by: ``"id"`` for equal ranges of ids, ``"hash"`` for a fixed hash of the id; otherwise ``parts`` says.
        parts: The partition of each node, or None.
    """
    if by == "id":
        starts = np.arange(partitions + 1, dtype=np.int64) * nodes // partitions
        return Placement(nodes, by, starts, folder), ()
    counts = np.zeros(partitions, np.int64)
    for _, chunk in _chunks(nodes, partitions, parts):
        counts += np.bincount(chunk, minlength=partitions)
    starts = np.concatenate(([0], np.cumsum(counts)))
    path, inverse = folder / "rows.npy", folder / "ids.npy"
    with writing(path) as rows_file, writing(inverse) as ids_file:
        shape, kind = (nodes,), np.dtype(np.int64)
        rows = np.lib.format.open_memmap(rows_file, mode="w+", dtype=kind, shape=shape)
        ids = np.lib.format.open_memmap(ids_file, mode="w+", dtype=kind, shape=shape)
        following = starts[:-1].copy()
        for first, chunk in _chunks(nodes, partitions, parts):
            order = np.argsort(chunk, kind="stable")
            sizes = np.bincount(chunk, minlength=partitions)
            within = np.arange(len(chunk)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            placed = np.repeat(following, sizes) + within
            rows[first + order] = placed
            ids[placed] = first + order
            following += sizes
        rows.flush()
        ids.flush()
    return Placement(nodes, by, starts, folder), (seal(path, folder),)


def hashed(ids: NDArray[np.integer], partitions: int) -> NDArray[np.int64]:
    """Return the partition of each id by a fixed hash of it.

    Args:
        partitions: The number of partitions.

    >>> import numpy as np
    >>> np.bincount(hashed(np.arange(30_000), 3)).round(-3)
    array([10000, 10000, 10000])
    """
    words = mixed_words(ids.astype(np.uint64) + STEP_WORD)
    return (words % np.uint64(partitions)).astype(np.int64)


def _chunks(nodes: int, partitions: int, parts: NDArray[np.integer] | None) -> Iterator[tuple[int, NDArray[np.int64]]]:
    for first in range(0, nodes, _CHUNK):
        last = min(first + _CHUNK, nodes)
        if parts is None:
            yield first, hashed(np.arange(first, last), partitions)
        else:
            yield first, parts[first:last].astype(np.int64)
