"""A cluster whose workers are killed, whose files are damaged, or whose disk is full."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import dask
import numpy as np
import pytest
from stored_graphs import edges_of, random_pattern

from privet.data import write_edges
from privet.data.store import GraphStore, build_store
from privet.data.store.running import run_tasks
from privet.errors import InvalidData, PrivetError
from privet.graph.distributed import ClusterGraph, connect, gcn_operator, kprop, sum_operator

PATTERN = random_pattern(2, 60)
X = np.random.default_rng(0).standard_normal((60, 4)).astype(np.float32)
# Every phase of the work on a cluster: the module and the function in the middle of which a worker is killed.
PHASES = [
    ("privet.data.store.sorting", "read_piece"),
    ("privet.data.store.sorting", "_numbered"),
    ("privet.graph.distributed.scales", "degree_powers"),
    ("privet.graph.distributed.hop", "_load"),
    ("privet.graph.distributed.kernel", "_multiply"),
    ("privet.graph.distributed.graph", "write_block"),
]


@pytest.fixture(scope="module")
def client():
    with connect("local:2:1GiB") as client:
        yield client


@pytest.fixture
def mortal():
    """A cluster of its own: it is up to Dask when, and whether, a killed worker is replaced."""
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}), connect("local:2:1GiB") as client:
        yield client


def die_once(module: str, name: str, marker: str) -> None:
    """Make a function of a worker kill the worker, unless another worker died of it before."""
    import importlib

    home = importlib.import_module(module)
    inner = getattr(home, name)

    def dying(*arguments, **options):
        with contextlib.suppress(FileExistsError):
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), signal.SIGKILL)
        return inner(*arguments, **options)

    setattr(home, name, dying)


def whole_work(client, folder: Path) -> np.ndarray:
    """Build, prepare, propagate and map, all on the workers."""
    write_edges(folder / "e.csv", edges_of(PATTERN))
    store = build_store(folder / "e.csv", folder / "s", nodes=60, partitions=7, self_loops="keep", client=client)
    assert (store.adjacency() != PATTERN).nnz == 0
    with ClusterGraph(store, client, scratch=folder) as graph:
        y = kprop(graph.columns(X), gcn_operator(graph, self_loops=False), 3)
        result = graph.map(lambda _, own: own * np.float32(2), y, width=4).numpy()
    assert sorted(path.name for path in folder.iterdir()) == ["e.csv", "s"]
    return result


@pytest.fixture(scope="module")
def undisturbed(client, tmp_path_factory):
    return whole_work(client, tmp_path_factory.mktemp("undisturbed"))


@pytest.mark.parametrize(("module", "name"), PHASES)
def test_a_killed_worker_changes_nothing(module, name, mortal, undisturbed, tmp_path, tmp_path_factory):
    marker = tmp_path_factory.mktemp("marker") / "died"
    mortal.run(die_once, module, name, str(marker))
    assert (whole_work(mortal, tmp_path) == undisturbed).all()
    assert marker.exists()


def test_the_cluster_gives_the_bits_of_one_process(undisturbed, client, tmp_path):
    write_edges(tmp_path / "e.csv", edges_of(PATTERN))
    store = build_store(tmp_path / "e.csv", tmp_path / "s", nodes=60, partitions=7, self_loops="keep")
    with ClusterGraph(store) as graph:
        alone = kprop(graph.columns(X), gcn_operator(graph, self_loops=False), 3).numpy() * np.float32(2)
    assert (alone == undisturbed).all()


@pytest.fixture
def store(tmp_path) -> GraphStore:
    write_edges(tmp_path / "e.csv", edges_of(PATTERN))
    return build_store(tmp_path / "e.csv", tmp_path / "s", nodes=60, partitions=7, self_loops="keep")


def test_a_corrupt_block_is_named(store, client):
    path = store.partition(4).folder / "columns.npy"
    path.write_bytes(path.read_bytes()[:-1] + b"\x01")
    with ClusterGraph(store, client) as graph, pytest.raises(InvalidData) as caught:
        sum_operator(graph) @ graph.columns(X)
    assert str(caught.value).startswith(f"{path} is damaged: ")


def _shrink_disk(limit: int) -> None:
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))


def test_a_full_disk_is_told_with_the_file(store, client):
    with ClusterGraph(store, client) as graph:
        operator, x = sum_operator(graph).prepare(), graph.columns(X)
        client.run(_shrink_disk, 100)
        try:
            with pytest.raises(PrivetError, match=r"part-0000\d\.npy cannot be written: File too large\."):
                operator @ x
        finally:
            client.run(_shrink_disk, -1)
        assert all(path.suffix == ".npy" for path in graph.scratch.glob("columns-*/*"))  # no temporary file is left
        (operator @ x).numpy()


def _always_die(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_task_that_kills_every_worker_ends_with_one_sentence(mortal):
    with pytest.raises(PrivetError, match="Workers ended 2 times at the same task; give them more memory"):
        run_tasks(_always_die, [0], mortal)
