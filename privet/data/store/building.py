"""Building a store out of core: place the nodes, sort the edges into runs, make the partitions, commit.

Everything is written to ``DIR.partial``, which becomes DIR by one rename in the end. A build that was stopped goes on
where it was: finished runs and partitions are recognised by their checksums, provided that the inputs are the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privet.data.graph import Duplicates, SelfLoops
from privet.data.store.edge_pieces import Piece, cut_into_pieces, find_edge
from privet.data.store.files import count_nodes, flush_directory, flush_file, read_node_batches, write_text
from privet.data.store.manifest import By, Manifest, PartitionEntry, folder_of
from privet.data.store.placing import Placement, place
from privet.data.store.reading import GraphStore
from privet.data.store.running import Progress, run_tasks
from privet.data.store.sorting import MOST_NODES, DuplicateEdge, PartitionTask, Runs, RunTask, make_partition, make_runs
from privet.data.store.tables import write_table
from privet.errors import InvalidData, InvalidParameter

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["build_store"]

_PIECE = 1 << 26  # bytes of CSV that are sorted at a time


def build_store(
    edges: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    nodes: int | str | os.PathLike[str],
    partitions: int,
    by: By = "hash",
    parts: ArrayLike | None = None,
    directed: bool = False,
    self_loops: SelfLoops = "refuse",
    duplicates: Duplicates = "refuse",
    client: Client | None = None,
    progress: Progress | None = None,
) -> GraphStore:
    """Build a store from edge lists that need not fit into memory.

    One worker holds at most one partition's entries at a time, some 32 bytes for each.

    Args:
        edges: ``.csv`` or ``.parquet`` files with the columns source and target, integers from 0 on.
        out: The directory to make.
        nodes: The number of nodes, or a ``.csv`` or ``.parquet`` file with the column ``node`` (each id once), whose
            other columns (labels, features) become the store's table ``nodes``.
        partitions: The number of partitions.
        by: ``"hash"`` deals nodes evenly, ``"id"`` by equal ranges of ids, which keeps neighbours together where ids
            follow communities; ``"metis"`` and ``"given"`` as ``parts`` says.
        parts: The partition of each node, from 0 on.
        directed: False if an edge is listed once and holds in both directions.
        self_loops: ``"refuse"``, ``"drop"`` or ``"keep"`` edges from a node to itself.
        duplicates: ``"refuse"`` or ``"merge"`` edges that are listed twice.
        client: A Dask client whose workers sort; this process by default.
        progress: Called with the phase, the number of finished tasks and the number of all of them.
    """
    files = [Path(path) for path in ([edges] if isinstance(edges, str | os.PathLike) else edges)]
    target = Path(out)
    count = nodes if isinstance(nodes, int) else count_nodes(Path(nodes))
    dealt = _checked(files, count, partitions, by, parts, self_loops, duplicates)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidParameter(f"{target} is not empty. Name a new or empty directory.")
    if not target.parent.is_dir():
        raise InvalidParameter(f"There is no directory {target.parent}. Name a directory in an existing one.")
    work = target.with_name(f"{target.name}.partial")
    options = (count, partitions, by, _digest(dealt), directed, self_loops, duplicates)
    node_file = [] if isinstance(nodes, int) else [Path(nodes)]
    _resume_or_start(work, json.dumps([_fingerprint(files + node_file), *options]))
    placement, kept = place(work, count, partitions, by, dealt)
    pieces = [piece for file in files for piece in cut_into_pieces(file, _PIECE)]
    tasks = [RunTask(number, piece, placement, directed, self_loops) for number, piece in enumerate(pieces)]
    runs = run_tasks(make_runs, tasks, client, progress, "sorting edges")
    write_text(work / "runs.txt", "\n".join(_stems(runs)) + "\n")
    entries = _partitions(placement, duplicates == "merge", pieces, directed, client, progress)
    manifest = Manifest(nodes=count, directed=directed, by=by, partitions=tuple(entries), files=kept)
    if not isinstance(nodes, int):
        write_table(GraphStore(work, manifest), "nodes", read_node_batches(Path(nodes)), complete=True)
    _commit(work, target, manifest)
    return GraphStore.open(target)


def _partitions(
    placement: Placement,
    merge: bool,
    pieces: list[Piece],
    directed: bool,
    client: Client | None,
    progress: Progress | None,
) -> list[PartitionEntry]:
    tasks = [PartitionTask(number, placement, merge) for number in range(len(placement.starts) - 1)]
    try:
        return run_tasks(make_partition, tasks, client, progress, "making partitions")
    except DuplicateEdge as error:
        source, target = error.args
        places = find_edge(pieces, source, target, directed)
    raise InvalidData(
        f"The edge between {source} and {target} is listed {len(places)} times: {', '.join(places[:3])}. List an edge "
        "once, or merge duplicates."
    )


def _commit(work: Path, target: Path, manifest: Manifest) -> None:
    for name in ("runs", "done"):
        shutil.rmtree(work / name)
    for name in ("runs.txt", "ids.npy", "inputs.json"):
        (work / name).unlink(missing_ok=True)
    for stray in work.rglob("*.tmp"):  # a killed process could not remove its own
        stray.unlink()
    for number, partition in enumerate(manifest.partitions):
        for file in partition.files:
            flush_file(work / file.name)
        flush_directory(work / folder_of(number))
    manifest.write(work)
    flush_directory(work)
    if target.exists():
        target.rmdir()
    work.rename(target)
    flush_directory(target.parent)


def _resume_or_start(work: Path, inputs: str) -> None:
    """Keep what an earlier build of the same inputs left, and remove what another one did."""
    record = work / "inputs.json"
    if not (record.is_file() and record.read_text() == inputs):
        shutil.rmtree(work, ignore_errors=True)
    for folder in (work, work / "runs", work / "done"):
        folder.mkdir(exist_ok=True)
    write_text(record, inputs)


def _fingerprint(files: list[Path]) -> list[Any]:
    found = []
    for file in files:
        try:
            status = file.stat()
        except OSError:
            raise InvalidData(f"There is no file {file}.") from None
        found.append([str(file.resolve()), status.st_size, status.st_mtime_ns])
    return found


def _digest(parts: NDArray[np.integer] | None) -> str:
    return "" if parts is None else hashlib.sha256(parts.astype(np.int64).tobytes()).hexdigest()


def _stems(runs: list[Runs]) -> list[str]:
    names = [Path(file.name).name for each in runs for file in each.files]
    return [name.removesuffix(".entries.npy") for name in names if name.endswith(".entries.npy")]


def _checked(
    files: list[Path],
    nodes: int,
    partitions: int,
    by: By,
    parts: ArrayLike | None,
    self_loops: SelfLoops,
    duplicates: Duplicates,
) -> NDArray[np.integer] | None:
    requirements = [
        ("edges", len(files), len(files) >= 1, "at least one file"),
        ("nodes", nodes, 1 <= nodes <= MOST_NODES, f"a number from 1 to {MOST_NODES}"),
        ("partitions", partitions, 1 <= partitions <= nodes, f"from 1 to the number of nodes, {nodes}"),
        ("by", by, by in ("hash", "id", "metis", "given"), "'hash', 'id', 'metis' or 'given'"),
        ("self_loops", self_loops, self_loops in ("refuse", "drop", "keep"), "'refuse', 'drop' or 'keep'"),
        ("duplicates", duplicates, duplicates in ("refuse", "merge"), "'refuse' or 'merge'"),
        ("parts", parts, (parts is None) == (by in ("hash", "id")), "given with by='metis' or by='given' only"),
    ]
    for name, value, fine, expected in requirements:
        if not fine:
            raise InvalidParameter(name, expected, value)
    if parts is None:
        return None
    dealt = np.asarray(parts)
    if dealt.shape != (nodes,) or not np.issubdtype(dealt.dtype, np.integer):
        raise InvalidParameter("parts", f"{nodes} integers", f"{dealt.dtype} of shape {dealt.shape}")
    if dealt.min() < 0 or dealt.max() >= partitions:
        raise InvalidParameter("parts", f"numbers from 0 to {partitions - 1}", f"{dealt.min()} to {dealt.max()}")
    return dealt
