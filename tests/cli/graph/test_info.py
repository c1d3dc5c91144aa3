"""``privet graph info``: a store's figures, and its damage."""

from __future__ import annotations

import json

import pytest
from stored_graphs import random_pattern, stored
from typer.testing import CliRunner

from privet.cli import app
from privet.errors import InvalidData

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
