"""Building a store: equal to the graph in memory, resumable, whole or absent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored_graphs import edges_of, random_pattern, stored

from privet.data import write_edges
from privet.data.store import GraphStore, build_store, building, open_table, sorting
from privet.errors import InvalidData, InvalidParameter


@given(
    seed=st.integers(0, 10_000),
    nodes=st.integers(1, 40),
    partitions=st.sampled_from([1, 2, 7, 16]),
    by=st.sampled_from(["hash", "id", "given"]),
    directed=st.booleans(),
)
def test_a_store_holds_the_graph(seed, nodes, partitions, by, directed, tmp_path_factory):
    pattern = random_pattern(seed, nodes, directed=directed)
    count = min(partitions, nodes)
    parts = np.random.default_rng(seed).integers(count, size=nodes) if by == "given" else None
    store = stored(tmp_path_factory.mktemp("s"), pattern, partitions, directed=directed, by=by, parts=parts)
    assert (store.adjacency() != pattern).nnz == 0
    store.check()
    assert store.manifest.entries + store.manifest.loops == pattern.nnz
    assert (
        np.concatenate([store.partition(p).ids for p in range(count)]).argsort() == store.rows_of(range(nodes))
    ).all()
    if parts is not None:
        assert all((parts[store.partition(p).ids] == p).all() for p in range(count))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_small_pieces_give_the_same_store(suffix, tmp_path, monkeypatch):
    pattern = random_pattern(2, 60)
    write_edges(tmp_path / f"e.{suffix}", edges_of(pattern))
    whole = build_store(tmp_path / f"e.{suffix}", tmp_path / "whole", nodes=60, partitions=3, self_loops="keep")
    monkeypatch.setattr(building, "_PIECE", 64)
    monkeypatch.setattr(sorting, "_RUN", 17)
    cut = build_store(tmp_path / f"e.{suffix}", tmp_path / "cut", nodes=60, partitions=3, self_loops="keep")
    assert cut.manifest == whole.manifest  # and with it every checksum


def test_several_files_and_a_table_of_nodes(tmp_path):
    pattern = random_pattern(2, 30)
    edges = edges_of(pattern)
    write_edges(tmp_path / "a.csv", edges[:, :20])
    write_edges(tmp_path / "b.parquet", edges[:, 20:])
    order = np.random.default_rng(0).permutation(30)
    (tmp_path / "n.csv").write_text("node,label\n" + "".join(f"{node},{node % 3}\n" for node in order))
    files = [tmp_path / "a.csv", tmp_path / "b.parquet"]
    store = build_store(files, tmp_path / "s", nodes=tmp_path / "n.csv", partitions=4, self_loops="keep")
    assert (store.adjacency() != pattern).nnz == 0
    table = open_table(store, "nodes")
    for number in range(4):
        rows = table.read(number)
        assert (rows["node"].to_numpy() == store.partition(number).ids).all()
        assert (rows["label"].to_numpy() == store.partition(number).ids % 3).all()


def write(folder: Path, *lines: str) -> Path:
    path = folder / "edges.csv"
    path.write_text("\n".join(["source,target", *lines, ""]))
    return path


def test_duplicates_are_refused_with_their_lines_or_merged(tmp_path):
    path = write(tmp_path, "0,1", "1,2", "2,3", "2,1", "1,2")
    with pytest.raises(InvalidData, match=r"is listed 3 times: edges.csv line 3, edges.csv line 5, edges.csv line 6\."):
        build_store(path, tmp_path / "s", nodes=4, partitions=2)
    assert not (tmp_path / "s").exists()
    merged = build_store(path, tmp_path / "s", nodes=4, partitions=2, duplicates="merge")
    assert merged.manifest.entries == 6
    assert sum(part.merged for part in merged.manifest.partitions) == 4


def test_the_other_direction_is_another_edge_of_a_directed_graph(tmp_path):
    path = write(tmp_path, "0,1", "1,0")
    assert build_store(path, tmp_path / "s", nodes=2, partitions=2, directed=True).manifest.entries == 2
    with pytest.raises(InvalidData, match="listed 2 times"):
        build_store(path, tmp_path / "t", nodes=2, partitions=2)


def test_loops_are_refused_dropped_or_kept(tmp_path):
    path = write(tmp_path, "0,1", "1,1")
    with pytest.raises(InvalidData, match=r"edges.csv line 3 joins node 1 to itself"):
        build_store(path, tmp_path / "s", nodes=2, partitions=1)
    assert build_store(path, tmp_path / "d", nodes=2, partitions=1, self_loops="drop").manifest.loops == 0
    kept = build_store(path, tmp_path / "k", nodes=2, partitions=1, self_loops="keep")
    assert kept.adjacency().toarray().tolist() == [[0, 1], [1, 1]]


KILLED = """
import os, signal, sys
from privet.data.store import building, sorting
name, calls = sys.argv[1], [0]
inner = getattr(building, name)
def dying(task):
    calls[0] += 1
    if calls[0] == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return inner(task)
setattr(building, name, dying)
building._PIECE = 64
building.build_store(sys.argv[2], sys.argv[3], nodes=60, partitions=5, self_loops="keep")
"""


@pytest.mark.parametrize("phase", ["make_runs", "make_partition"])
def test_a_killed_build_goes_on_where_it_was(phase, tmp_path, monkeypatch):
    pattern = random_pattern(2, 60)
    write_edges(tmp_path / "e.csv", edges_of(pattern))
    done = subprocess.run([sys.executable, "-c", KILLED, phase, tmp_path / "e.csv", tmp_path / "s"], check=False)
    assert done.returncode == -9
    assert not (tmp_path / "s").exists()
    records = sorted((tmp_path / "s.partial").glob("done/*.json" if phase == "make_partition" else "runs/*.json"))
    assert len(records) == 2
    before = [record.stat().st_mtime_ns for record in records]
    monkeypatch.setattr(building, "_PIECE", 64)
    kept = []
    monkeypatch.setattr(building, "_commit", lambda *_: kept.extend(record.stat().st_mtime_ns for record in records))
    with pytest.raises(InvalidData, match="is no graph store"):  # nothing was committed
        build_store(tmp_path / "e.csv", tmp_path / "s", nodes=60, partitions=5, self_loops="keep")
    assert kept == before  # the finished parts were not made again
    monkeypatch.undo()
    monkeypatch.setattr(building, "_PIECE", 64)
    store = build_store(tmp_path / "e.csv", tmp_path / "s", nodes=60, partitions=5, self_loops="keep")
    assert (store.adjacency() != pattern).nnz == 0
    assert not (tmp_path / "s.partial").exists()
    assert {path.name for path in store.path.iterdir()} == {"store.json", "rows.npy"} | {
        f"part-{p:05d}" for p in range(5)
    }


def test_a_damaged_part_of_a_stopped_build_is_made_again(tmp_path, monkeypatch):
    pattern = random_pattern(2, 60)
    write_edges(tmp_path / "e.csv", edges_of(pattern))
    monkeypatch.setattr(building, "_commit", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        build_store(tmp_path / "e.csv", tmp_path / "s", nodes=60, partitions=5, self_loops="keep")
    assert not (tmp_path / "s").exists()
    damaged = tmp_path / "s.partial" / "part-00003" / "columns.npy"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"\x7f")
    damaged.with_name("columns.npy.0123.tmp").write_bytes(b"half of it")
    monkeypatch.undo()
    store = build_store(tmp_path / "e.csv", tmp_path / "s", nodes=60, partitions=5, self_loops="keep")
    assert (store.adjacency() != pattern).nnz == 0
    assert not list(store.path.rglob("*.tmp"))


def test_another_input_starts_afresh(tmp_path, monkeypatch):
    write_edges(tmp_path / "e.csv", edges_of(random_pattern(2, 60)))
    monkeypatch.setattr(building, "_commit", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        build_store(tmp_path / "e.csv", tmp_path / "s", nodes=60, partitions=5, self_loops="keep")
    monkeypatch.undo()
    other = random_pattern(5, 60)
    write_edges(tmp_path / "e.csv", edges_of(other))
    store = build_store(tmp_path / "e.csv", tmp_path / "s", nodes=60, partitions=5, self_loops="keep")
    assert (store.adjacency() != other).nnz == 0


FULL = """
import resource, signal, sys
from privet.data.store import build_store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))  # as a full disk, but for the word
try:
    build_store(sys.argv[1], sys.argv[2], nodes=3000, partitions=2)
except Exception as error:
    print(type(error).__name__, error)
"""


def test_a_full_disk_is_told_with_the_file(tmp_path):
    edges = np.stack([np.arange(2999), np.arange(1, 3000)])
    write_edges(tmp_path / "e.parquet", edges)
    done = subprocess.run(
        [sys.executable, "-c", FULL, tmp_path / "e.parquet", tmp_path / "s"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("InvalidParameter ")
    assert "cannot be written: File too large." in done.stdout
    assert str(tmp_path / "s.partial") in done.stdout
    assert not (tmp_path / "s").exists()


BOUNDED = """
import resource, sys
from privet.data.store import build_store
import pyarrow.parquet
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
from privet.data.store import sorting
sorting._RUN = 50_000
build_store(sys.argv[1], sys.argv[2], nodes=100_000, partitions=64, duplicates="merge")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_memory_is_that_of_a_part_and_not_of_the_graph(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    edges = rng.integers(100_000, size=(2, 2_000_000))
    edges[1] = np.where(edges[0] == edges[1], (edges[1] + 1) % 100_000, edges[1])
    table = pa.table({"source": edges[0], "target": edges[1]})
    parquet.write_table(table, tmp_path / "e.parquet", row_group_size=50_000)
    done = subprocess.run(
        [sys.executable, "-c", BOUNDED, tmp_path / "e.parquet", tmp_path / "s"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    entries = GraphStore.open(tmp_path / "s").manifest.entries
    # In memory the entries alone would take 16 bytes each before they are sorted: 64 MB.
    assert entries > 3_900_000
    assert int(done.stdout) * 1024 < 8 * entries


def test_bad_arguments_are_told(tmp_path):
    path = write(tmp_path, "0,1")
    with pytest.raises(InvalidParameter, match="from 1 to the number of nodes, 2"):
        build_store(path, tmp_path / "s", nodes=2, partitions=3)
    with pytest.raises(InvalidParameter, match="given with by='metis'"):
        build_store(path, tmp_path / "s", nodes=2, partitions=1, by="metis")
    with pytest.raises(InvalidParameter, match="numbers from 0 to 1"):
        build_store(path, tmp_path / "s", nodes=2, partitions=2, by="given", parts=[0, 2])
    with pytest.raises(InvalidData, match="There is no file"):
        build_store(tmp_path / "none.csv", tmp_path / "s", nodes=2, partitions=1)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("precious")
    with pytest.raises(InvalidParameter, match="Name a new or empty directory"):
        build_store(path, tmp_path / "full", nodes=2, partitions=1)
    assert (tmp_path / "full" / "mine").read_text() == "precious"
