"""``privet graph``: a store or one sentence, and what a store holds."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE, wait_until
from stored_graphs import edges_of, random_pattern, stored
from typer.testing import CliRunner

from privet.cli import app
from privet.data import write_edges
from privet.data.store import GraphStore
from privet.errors import InvalidData

PATTERN = random_pattern(2, 60, loops=False)


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    write_edges(tmp_path / "edges.csv", edges_of(PATTERN))
    return tmp_path / "edges.csv"


@pytest.mark.parametrize("by", ["hash", "metis", "id"])
def test_a_store_is_built(by, edges, tmp_path):
    out = tmp_path / "store"
    arguments = ["graph", "build", str(edges), "--nodes", "60", "--out", str(out), "--partitions", "4", "--by", by]
    found = CliRunner().invoke(app, arguments)
    assert found.exit_code == 0, found.output
    assert f"4 partitions by {by}" in found.output
    assert (GraphStore.open(out).adjacency() != PATTERN).nnz == 0


def privet(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "privet.cli", "graph", *map(str, arguments)], capture_output=True, text=True, check=False
    )


def test_a_fault_is_one_sentence_and_leaves_no_store(edges, tmp_path):
    with edges.open("a") as file:
        file.write("1,2,3\n")
    line = len(edges.read_text().splitlines())
    done = privet("build", edges, "--nodes", 60, "--out", tmp_path / "store", "--partitions", 4)
    told = f"privet: edges.csv line {line} must have 2 fields, source,target.\n"
    assert (done.returncode, done.stderr) == (2, told)
    assert not (tmp_path / "store").exists()


def test_nodes_are_a_number_or_a_table(edges, tmp_path):
    done = privet("build", edges, "--nodes", "people.xlsx", "--out", tmp_path / "store", "--partitions", 4)
    told = "privet: --nodes takes a number, or a .csv or .parquet file, not 'people.xlsx'.\n"
    assert (done.returncode, done.stderr) == (2, told)


def test_ctrl_c_leaves_no_store(tmp_path):
    pipe = tmp_path / "edges.csv"
    lines = "".join(f"{k},{k + 1}\n" for k in range(200_000))
    pipe.write_text("source,target\n" + lines)
    arguments = ["build", pipe, "--nodes", 200_001, "--out", tmp_path / "store", "--partitions", 3000]
    process = subprocess.Popen(
        [sys.executable, "-m", "privet.cli", "graph", *map(str, arguments)], stderr=subprocess.PIPE, text=True
    )
    making = (tmp_path / "store.partial").glob
    wait_until(lambda: process.poll() is not None or list(making("done/*.json")), pause=0.01)
    assert process.poll() is None
    os.kill(process.pid, signal.SIGINT)
    told = process.communicate(timeout=PATIENCE)[1]
    assert (process.returncode, told) == (130, "privet: stopped by Ctrl-C; nothing was left half-written.\n")
    assert not (tmp_path / "store").exists()


PATTERN = random_pattern(2, 60, loops=False)


def test_figures_as_text_and_as_json(tmp_path):
    store = stored(tmp_path, PATTERN, 4)
    text = CliRunner().invoke(app, ["graph", "info", str(store.path), "--check"])
    assert text.exit_code == 0, text.output
    assert f"60 nodes, {PATTERN.nnz:,} adjacency entries, undirected." in text.output
    assert "Every file has its checksum." in text.output
    told = json.loads(CliRunner().invoke(app, ["graph", "info", str(store.path), "--json"]).output)
    assert (told["nodes"], told["entries"], told["by"]) == (60, PATTERN.nnz, "hash")
    assert sum(part["halo"] for part in told["partitions"]) == told["halo"]


def test_damage_is_found(tmp_path):
    store = stored(tmp_path, PATTERN, 4)
    path = store.partition(2).folder / "columns.npy"
    path.write_bytes(path.read_bytes()[:-1] + b"\x7f")
    found = CliRunner().invoke(app, ["graph", "info", str(store.path), "--check"])
    assert isinstance(found.exception, InvalidData)
    with pytest.raises(InvalidData, match=r"columns\.npy is damaged"):
        raise found.exception
