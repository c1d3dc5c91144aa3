"""Reading a store: what is in it, partition by partition, mapped and not loaded."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from privet.data.store.files import mapped
from privet.data.store.manifest import Manifest, PartitionEntry, folder_of
from privet.errors import InvalidData, InvalidParameter

__all__ = ["GraphStore", "StoredPartition"]


@dataclass(frozen=True)
class GraphStore:
    """A partitioned graph on disk.

    Attributes:
        path: Its directory.
        manifest: Its manifest.
    """

    path: Path
    manifest: Manifest

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> GraphStore:
        """Open a store by its manifest; no other file is read.

        Args:
            path: The directory.
        """
        folder = Path(path)
        return cls(folder, Manifest.read(folder))

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return self.manifest.nodes

    @property
    def num_partitions(self) -> int:
        """The number of partitions."""
        return len(self.manifest.partitions)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The first store row of each partition, and the number of nodes last."""
        return np.cumsum([0, *(partition.rows for partition in self.manifest.partitions)], dtype=np.int64)

    def partition(self, number: int) -> StoredPartition:
        """Return one partition.

        Args:
            number: From 0 to ``num_partitions - 1``.
        """
        if not 0 <= number < self.num_partitions:
            expected = f"a number from 0 to {self.num_partitions - 1}"
            raise InvalidParameter("number", expected, number)
        return StoredPartition(self, number)

    def rows_of(self, ids: ArrayLike) -> NDArray[np.int64]:
        """Return the store rows of some nodes.

        Args:
            ids: The nodes' ids.
        """
        wanted = np.asarray(ids, dtype=np.int64)
        if wanted.size and (wanted.min() < 0 or wanted.max() >= self.num_nodes):
            outside = int(wanted[(wanted < 0) | (wanted >= self.num_nodes)].flat[0])
            raise InvalidData("node id", f"from 0 to {self.num_nodes - 1}, as in the store {self.path.name}", outside)
        if self.manifest.by == "id":
            return wanted
        return np.asarray(mapped(self.path / "rows.npy")[wanted], dtype=np.int64)

    def check(self) -> None:
        """Compare every file with its checksum."""
        for file in self.manifest.files:
            file.check(self.path)
        for number in range(self.num_partitions):
            self.partition(number).check()

    def adjacency(self) -> sp.csr_array:
        """Load the whole adjacency, loops included, in the order of ids: for graphs that fit into memory."""
        rows, columns = [], []
        for number in range(self.num_partitions):
            partition = self.partition(number)
            ids = partition.ids
            sources = [ids, *(self.partition(owner).ids[places] for owner, places in partition.halo_groups())]
            rows.append(np.repeat(ids, np.diff(partition.pointers)))
            columns.append(np.concatenate(sources)[partition.columns])
            if partition.loops is not None:
                rows.append(ids[partition.loops])
                columns.append(ids[partition.loops])
        ends = np.concatenate(rows), np.concatenate(columns)
        ones = np.ones(len(ends[0]), np.float32)
        adjacency = sp.csr_array(sp.coo_array((ones, ends), shape=(self.num_nodes, self.num_nodes)))
        adjacency.sum_duplicates()
        return adjacency


@dataclass(frozen=True)
class StoredPartition:
    """One partition: its rows of the adjacency, and which rows of other partitions they refer to.

    Attributes:
        store: The store.
        number: The partition's number.
    """

    store: GraphStore
    number: int

    @property
    def entry(self) -> PartitionEntry:
        """The partition in the manifest."""
        return self.store.manifest.partitions[self.number]

    @property
    def folder(self) -> Path:
        """Its directory."""
        return self.store.path / folder_of(self.number)

    @property
    def ids(self) -> NDArray[np.int64]:
        """The id of each row."""
        if self.store.manifest.by == "id":
            return np.arange(self.store.starts[self.number], self.store.starts[self.number + 1])
        return np.asarray(self._array("ids", self.entry.rows))

    @property
    def pointers(self) -> NDArray[np.int64]:
        """The place of each row's first entry, and the number of entries last."""
        return self._array("pointers", self.entry.rows + 1)

    @property
    def columns(self) -> NDArray[np.int32]:
        """Each entry's column: below ``entry.rows`` a row of this partition, from there on a halo node."""
        return self._array("columns", self.entry.entries)

    @property
    def halo(self) -> NDArray[np.int32]:
        """The row of each halo node within its own partition, grouped by that partition."""
        return self._array("halo", self.entry.halo)

    @property
    def halo_pointers(self) -> NDArray[np.int64]:
        """The place in :attr:`halo` of each partition's first node, and the number of halo nodes last."""
        return self._array("halo_pointers", self.store.num_partitions + 1)

    @property
    def loops(self) -> NDArray[np.bool_] | None:
        """A mask of the rows that have a loop, or None if none has."""
        return self._array("loops", self.entry.rows) if self.entry.loops else None

    def halo_groups(self) -> list[tuple[int, NDArray[np.int32]]]:
        """List the partitions that halo nodes belong to, each with its nodes' rows there."""
        halo, pointers = self.halo, np.asarray(self.halo_pointers)
        owners = np.flatnonzero(np.diff(pointers))
        return [(int(owner), halo[pointers[owner] : pointers[owner + 1]]) for owner in owners]

    def check(self) -> None:
        """Compare the partition's files with their checksums."""
        for file in self.entry.files:
            file.check(self.store.path)

    def _array(self, name: str, length: int) -> NDArray[Any]:
        path = self.folder / f"{name}.npy"
        array = mapped(path)
        if array.shape != (length,):
            raise InvalidData(f"{path} is damaged: it holds {array.shape} numbers instead of {length}.")
        return array
