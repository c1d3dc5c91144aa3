"""An external sort of adjacency entries: sorted runs, cut by partition, then one CSR block for each partition.

An entry is one integer, ``row * nodes + column`` in store rows, so that sorting the integers sorts the entries and
the entries of a partition are a range of every run.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from privet.data.graph import SelfLoops
from privet.data.store.edge_pieces import Piece, read_piece
from privet.data.store.files import StoredFile, mapped, reading, write_array, write_text
from privet.data.store.manifest import PartitionEntry, folder_of
from privet.data.store.placing import Placement
from privet.errors import InvalidParameter, PrivetError

__all__ = ["MOST_NODES", "DuplicateEdge", "PartitionTask", "RunTask", "Runs", "make_partition", "make_runs"]

MOST_NODES = 3_037_000_499  # nodes squared must stay below 2^63
_RUN = 1 << 22  # edges sorted at a time


class DuplicateEdge(PrivetError, ValueError):
    """An edge that is listed twice.

    Args:
        source: The id of one end.
        target: The id of the other.
    """

    def __init__(self, source: int, target: int) -> None:
        super().__init__(source, target)


class Runs(BaseModel):
    """The sorted runs of one piece of an edge list.

    Attributes:
        edges: The number of edges in the piece, without dropped loops.
        files: Two files for each run: its entries, and where each partition's begin.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    edges: int
    files: tuple[StoredFile, ...]

    def check(self, folder: Path) -> bool:
        """Return True if all runs are undamaged.

        Args:
            folder: The directory of the build.
        """
        return all(file.matches(folder) for file in self.files)


@dataclass(frozen=True, eq=False)
class RunTask:
    """A piece to sort.

    Attributes:
        number: Its number, which names its files.
        piece: The piece.
        placement: Where the nodes are.
        directed: False if an edge makes an entry in both directions.
        self_loops: What happens to edges from a node to itself.
    """

    number: int
    piece: Piece
    placement: Placement
    directed: bool
    self_loops: SelfLoops

    @property
    def record(self) -> Path:
        """The file that says that the piece is done."""
        return self.placement.folder / "runs" / f"{self.number:06d}.json"


def make_runs(task: RunTask) -> Runs:
    """Sort the entries of a piece into runs, unless that is done already.

    Args:
        task: The piece.
    """
    folder = task.placement.folder
    if task.record.is_file():
        runs = Runs.model_validate_json(task.record.read_bytes())
        if runs.check(folder):
            return runs
    nodes, starts = task.placement.nodes, task.placement.starts
    files: list[StoredFile] = []
    count = 0
    for number, edges in enumerate(read_piece(task.piece, nodes, task.self_loops, _RUN)):
        count += edges.shape[1]
        keys = _keys(edges, task.placement, task.directed)
        stem = folder / "runs" / f"{task.number:06d}-{number:04d}"
        cuts = np.searchsorted(keys, starts * nodes)
        files.append(write_array(stem.with_suffix(".entries.npy"), keys, folder))
        files.append(write_array(stem.with_suffix(".cuts.npy"), cuts, folder))
    runs = Runs(edges=count, files=tuple(files))
    write_text(task.record, runs.model_dump_json(), flush=False)
    return runs


def _keys(edges: NDArray[np.int64], placement: Placement, directed: bool) -> NDArray[np.int64]:
    sources, targets = placement.rows(edges[0]), placement.rows(edges[1])
    keys = sources * placement.nodes + targets
    if not directed:
        mirrored = targets * placement.nodes + sources
        keys = np.concatenate([keys, mirrored[sources != targets]])
    keys.sort()
    return keys


@dataclass(frozen=True, eq=False)
class PartitionTask:
    """A partition to make.

    Attributes:
        number: The partition.
        placement: Where the nodes are; its folder is the directory of the build, which lists all runs in ``runs.txt``.
        merge: True to merge entries that are listed twice, False to refuse them.
    """

    number: int
    placement: Placement
    merge: bool

    @property
    def record(self) -> Path:
        """The file that says that the partition is done."""
        return self.placement.folder / "done" / f"{folder_of(self.number)}.json"


def make_partition(task: PartitionTask) -> PartitionEntry:
    """Make a partition's CSR block and its halo, unless that is done already.

    Args:
        task: The partition.
    """
    folder = task.placement.folder
    if task.record.is_file():
        entry = PartitionEntry.model_validate_json(task.record.read_bytes())
        if all(file.matches(folder) for file in entry.files):
            return entry
    home = folder / folder_of(task.number)
    home.mkdir(exist_ok=True)
    nodes, starts = task.placement.nodes, task.placement.starts
    first, last = int(starts[task.number]), int(starts[task.number + 1])
    keys, merged = _distinct(_entries(folder, task.number), task)
    loop = keys // nodes == keys % nodes
    looped, keys = keys[loop] // nodes - first, keys[~loop]
    pointers = np.searchsorted(keys, np.arange(first, last + 1) * nodes)
    columns, halo = _numbered(keys % nodes, first, last)
    owners = np.searchsorted(halo, starts)
    places = halo - np.repeat(starts[:-1], np.diff(owners))
    arrays: dict[str, NDArray[Any]] = {
        "pointers": pointers,
        "columns": columns,
        "halo": places.astype(np.int32),
        "halo_pointers": owners,
    }
    if len(looped):
        arrays["loops"] = np.isin(np.arange(last - first), looped)
    if task.placement.by != "id":
        arrays["ids"] = task.placement.ids(np.arange(first, last))
    files = tuple(write_array(home / f"{name}.npy", array, folder) for name, array in arrays.items())
    entry = PartitionEntry(
        rows=last - first, entries=len(columns), halo=len(halo), loops=len(looped), merged=merged, files=files
    )
    write_text(task.record, entry.model_dump_json(), flush=False)
    return entry


def _entries(folder: Path, number: int) -> NDArray[np.int64]:
    """Read a partition's range of every run, and sort it."""
    index = folder / "runs.txt"
    with reading(index):
        stems = index.read_text().split()
    ranges = []
    for stem in stems:
        cuts = mapped(folder / "runs" / f"{stem}.cuts.npy")
        ranges.append((stem, int(cuts[number]), int(cuts[number + 1])))
    keys = np.empty(sum(last - first for _, first, last in ranges), np.int64)
    filled = 0
    for stem, first, last in ranges:
        keys[filled : filled + last - first] = mapped(folder / "runs" / f"{stem}.entries.npy")[first:last]
        filled += last - first
    keys.sort()
    return keys


def _distinct(keys: NDArray[np.int64], task: PartitionTask) -> tuple[NDArray[np.int64], int]:
    repeated = np.flatnonzero(keys[1:] == keys[:-1])
    if not len(repeated):
        return keys, 0
    if not task.merge:
        ends = np.asarray(divmod(int(keys[repeated[0]]), task.placement.nodes))
        source, target = task.placement.ids(ends)
        raise DuplicateEdge(int(source), int(target))
    return np.delete(keys, repeated + 1), len(repeated)


def _numbered(columns: NDArray[np.int64], first: int, last: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Number columns as the partition does, its own rows first, and return the halo's store rows."""
    outside = (columns < first) | (columns >= last)
    halo, places = np.unique(columns[outside], return_inverse=True)
    rows = last - first
    if rows + len(halo) > np.iinfo(np.int32).max:
        raise InvalidParameter(f"A partition would refer to {rows + len(halo)} nodes. Use more partitions.")
    numbered = (columns - first).astype(np.int32)
    numbered[outside] = rows + places
    return numbered, halo
