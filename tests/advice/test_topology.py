from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from privet.advice.topology import read_topology, sampled, stated_topology
from privet.data import Graph, Schema, save, social_graph, write_directory, write_edges
from privet.errors import InvalidData, InvalidParameter


@pytest.fixture(scope="module")
def people() -> Graph:
    return social_graph(300, features=6, classes=3, seed=0)


def test_only_the_topology_is_taken(people: Graph, tmp_path: Path) -> None:
    save(people, tmp_path / "people.npz")
    write_directory(people, tmp_path / "people", format="csv")
    write_edges(tmp_path / "edges.parquet", people.edges)
    for source in ("people.npz", "people", "edges.parquet"):
        found = read_topology(str(tmp_path / source))
        assert found.graph.features is None
        assert found.graph.labels is None
        assert found.graph.num_edges == people.num_edges
    assert read_topology(str(tmp_path / "people")).schema == people.schema
    assert read_topology(str(tmp_path / "people.npz")).schema == people.schema


def test_the_table_of_people_is_not_even_opened(people: Graph, tmp_path: Path) -> None:
    write_directory(people, tmp_path / "people", format="csv")
    (tmp_path / "people" / "nodes.csv").write_text("this is private")
    assert read_topology(str(tmp_path / "people")).graph.num_edges == people.num_edges


@pytest.mark.parametrize("name", ["nowhere", "nowhere.npz", "nowhere.csv", "notes.txt", "empty"])
def test_what_is_no_graph(name: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "empty").mkdir()
    with pytest.raises((InvalidData, InvalidParameter)):
        read_topology(str(tmp_path / name))


def test_a_broken_archive(tmp_path: Path) -> None:
    (tmp_path / "x.npz").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(InvalidData, match="npz archive"):
        read_topology(str(tmp_path / "x.npz"))


def test_too_small_a_graph(tmp_path: Path) -> None:
    write_edges(tmp_path / "edges.csv", np.array([[0, 1], [1, 2]]))
    with pytest.raises(InvalidData, match="at least 60 nodes"):
        read_topology(str(tmp_path / "edges.csv"))


def test_a_region_keeps_the_degrees() -> None:
    whole = stated_topology(3000, 12.0).graph
    part = sampled(whole, 500)
    assert 250 <= part.num_nodes <= 500
    assert part.adjacency.nnz / part.num_nodes == pytest.approx(whole.adjacency.nnz / whole.num_nodes, rel=0.35)
    assert sampled(whole, 3000) is whole


def test_a_stated_topology_has_the_stated_size() -> None:
    found = stated_topology(1000, 6.0)
    assert found.graph.num_nodes == 1000
    assert found.graph.adjacency.nnz / 1000 == pytest.approx(6.0, rel=0.2)
    assert "1,000 people" in found.source


def test_an_archive_without_a_schema_declares_its_ranges(tmp_path: Path) -> None:
    edges = np.stack([np.arange(99), np.arange(1, 100)])
    np.savez(tmp_path / "ranges.npz", num_nodes=100, edges=edges, x_low=np.zeros(3), x_high=np.full(3, 2.0))
    found = read_topology(str(tmp_path / "ranges.npz"))
    assert found.schema == Schema.numeric(3, 0.0, 2.0)
