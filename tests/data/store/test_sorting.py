"""The external sort against scipy, on graphs of a few nodes that are dealt in every way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from privet.data.edge_lists import write_edges
from privet.data.store import sorting
from privet.data.store.edge_pieces import cut_into_pieces
from privet.data.store.manifest import PartitionEntry, folder_of
from privet.data.store.placing import Placement, place
from privet.data.store.sorting import DuplicateEdge, PartitionTask, RunTask, make_partition, make_runs

NODES, PARTS = 12, 3


def edges_of(seed: int) -> np.ndarray:
    """Distinct undirected edges, some of them loops."""
    rng = np.random.default_rng(seed)
    pairs = {(min(pair), max(pair)) for pair in rng.integers(NODES, size=(30, 2)).tolist()}
    return np.array(sorted(pairs)).T


def sorted_into(folder: Path, edges: np.ndarray, by: str = "hash", merge: bool = False) -> tuple[Placement, list]:
    """Sort two files of edges into partitions, as a build does."""
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    (folder / "done").mkdir(exist_ok=True)
    placement, _ = place(folder, NODES, PARTS, by, None)
    stems = []
    for number, part in enumerate((edges[:, ::2], edges[:, 1::2])):
        path = folder / f"edges-{number}.csv"
        write_edges(path, part)
        (piece,) = cut_into_pieces(path, 1 << 20)
        runs = make_runs(RunTask(number, piece, placement, False, "keep"))
        stems += [Path(file.name).name.removesuffix(".entries.npy") for file in runs.files[::2]]
    (folder / "runs.txt").write_text("\n".join(stems) + "\n")
    return placement, [make_partition(PartitionTask(number, placement, merge)) for number in range(PARTS)]


def entries_of(folder: Path, placement: Placement) -> set[tuple[int, int]]:
    """Read the ids of all adjacency entries back from the partitions' files, loops left out."""
    found = set()
    for number in range(PARTS):
        first, last = placement.starts[number], placement.starts[number + 1]
        read = {p.stem: np.load(p) for p in (folder / folder_of(number)).glob("*.npy")}
        owner = np.repeat(np.arange(PARTS), np.diff(read["halo_pointers"]))
        halo = placement.starts[owner] + read["halo"]
        rows = np.concatenate([np.arange(first, last), halo])
        block = sp.csr_array(
            (np.ones(len(read["columns"])), read["columns"], read["pointers"]), shape=(last - first, len(rows))
        )
        sources, targets = block.nonzero()
        pairs = (placement.ids(rows[sources]), placement.ids(rows[targets]))
        found |= set(zip(*(each.tolist() for each in pairs), strict=True))
    return found


@pytest.mark.parametrize("by", ["id", "hash"])
@pytest.mark.parametrize("run", [4, 1 << 22], ids=["many runs", "one run"])
def test_partitions_hold_every_entry_in_both_directions(
    by: str, run: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorting, "_RUN", run)
    edges = edges_of(0)
    placement, parts = sorted_into(tmp_path, edges, by)
    expected = {pair for s, t in edges.T.tolist() if s != t for pair in ((s, t), (t, s))}
    assert entries_of(tmp_path, placement) == expected
    assert sum(part.entries for part in parts) == len(expected)
    assert sum(part.loops for part in parts) == np.count_nonzero(edges[0] == edges[1]) > 0
    assert sum(part.rows for part in parts) == NODES


def test_an_edge_that_is_listed_twice_is_merged_or_named_by_its_ids(tmp_path: Path) -> None:
    edges = edges_of(1)
    twice = edges[:, edges[0] != edges[1]][:, :1]
    both = np.concatenate([edges, twice[::-1]], axis=1)
    _, parts = sorted_into(tmp_path / "merged", both, merge=True)
    assert sum(part.merged for part in parts) == 2  # one in each direction
    assert sum(part.entries for part in parts) == 2 * np.count_nonzero(edges[0] != edges[1])
    with pytest.raises(DuplicateEdge) as error:
        sorted_into(tmp_path / "refused", both)
    assert set(error.value.args) == set(twice.ravel().tolist())


def test_finished_work_is_taken_as_it_is_and_damaged_work_is_done_again(tmp_path: Path) -> None:
    placement, parts = sorted_into(tmp_path, edges_of(2))
    task = PartitionTask(1, placement, False)
    columns = tmp_path / folder_of(1) / "columns.npy"
    made = columns.stat().st_mtime_ns
    assert make_partition(task) == parts[1]
    assert columns.stat().st_mtime_ns == made
    whole = columns.read_bytes()
    columns.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert make_partition(task) == parts[1]
    assert columns.read_bytes() == whole
    assert PartitionEntry.model_validate_json(task.record.read_bytes()) == parts[1]
