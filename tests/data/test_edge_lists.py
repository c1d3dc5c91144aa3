import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from privet.data import (
    Categories,
    Graph,
    Interval,
    Schema,
    load,
    read_directory,
    read_edges,
    save,
    write_directory,
    write_edges,
)
from privet.data import edge_lists as module
from privet.errors import InvalidData, InvalidParameter


def dense(features):
    return features.toarray() if sp.issparse(features) else features


@given(st.from_type(Graph), st.sampled_from(["csv", "parquet"]), st.sampled_from([1, 7, 1 << 22]))
def test_a_directory_reads_back_as_it_was_written(graph, kind, block):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        write_directory(graph, Path(folder) / "g", kind)
        again = load(Path(folder) / "g")
    assert np.array_equal(again.adjacency.toarray(), graph.adjacency.toarray())
    assert again.schema == graph.schema
    assert (again.features is None) == (graph.features is None)
    if graph.features is not None:
        assert np.array_equal(dense(again.features), dense(graph.features))
    assert (again.labels is None) == (graph.labels is None)
    if graph.labels is not None:
        assert np.array_equal(again.labels, graph.labels)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("edges", [[[0, 5], [3, 1]], np.zeros((2, 0), np.int32)])
def test_edges_read_back(tmp_path, suffix, edges):
    write_edges(tmp_path / f"e.{suffix}", edges)
    assert np.array_equal(read_edges(tmp_path / f"e.{suffix}"), edges)


def test_directed_graphs_read_back(tmp_path):
    graph = Graph.from_edges([[0, 1, 1], [1, 0, 2]], 3, directed=True, schema=Schema(()))
    write_directory(graph, tmp_path / "g")
    assert np.array_equal(read_directory(tmp_path / "g", directed=True).edges, graph.edges)
    with pytest.raises(InvalidData, match="edge 1 must be listed once"):
        read_directory(tmp_path / "g")


def test_sparse_features_come_back_sparse_and_dense_ones_dense(tmp_path):
    schema = Schema.numeric(8, 0, 1)
    for name, features, kind in [("s", np.eye(8), sp.csr_array), ("d", np.ones((8, 8)), np.ndarray)]:
        save(Graph.from_edges([[0], [1]], 8, features=features, schema=schema), tmp_path / name)
        assert isinstance(load(tmp_path / name).features, kind)


def directory(path, edges="source,target\n0,1\n", nodes="node,label,a\n0,1,0.5\n1,,1\n", schema=None):
    path.mkdir(exist_ok=True)
    (path / "edges.csv").write_text(edges)
    (path / "nodes.csv").write_text(nodes)
    (path / "schema.json").write_text(schema or Schema.numeric(1, 0, 1, classes=2).to_json())
    return path


def test_rows_of_nodes_may_come_in_any_order(tmp_path):
    graph = read_directory(directory(tmp_path / "g", nodes="label,a,node\n,0.5,1\n1,0.25,0\n"))
    assert graph.labels.tolist() == [1, -1]
    assert dense(graph.features).tolist() == [[0.25], [0.5]]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"edges": "source,target\n0,1\n0,2\n"}, "target of edge 1"),
        ({"edges": "source,target\n0,1\n1,0\n"}, "edge 1 must be listed once"),
        ({"edges": "source,target\n1,1\n"}, "Edge 0 joins a node to itself"),
        ({"edges": "source,target\n0,1\n,1\n"}, "'source' of 'edges.csv' is empty in row 1"),
        ({"edges": "source,target\n0,a\n"}, "'target' of 'edges.csv' must be integers"),
        ({"edges": "from,to\n0,1\n"}, "no column 'source'; it has from, to"),
        ({"edges": "source,target\n0,1,2\n"}, "is no csv table"),
        ({"edges": ""}, "is no csv table"),
        ({"nodes": "id,a\n0,1\n1,1\n"}, "no column 'node'"),
        ({"nodes": "node,a\n0,1\n2,1\n"}, "row 1 has another id"),
        ({"nodes": "node,a\n0,1\n0,1\n"}, "repeats an id in row 0"),
        ({"nodes": "node,a\n0,1\n1,\n"}, "feature 'a' of 'nodes.csv' is empty in row 1"),
        ({"nodes": "node,a\n0,1\n1,x\n"}, "feature 'a' .* numbers"),
        ({"nodes": "node,a\n0,1\n1,nan\n"}, "empty in row 1|finite"),
        ({"nodes": "node,a\n0,1\n1,inf\n"}, "row 1, column 0 is not finite"),
        ({"nodes": "node,a,b\n0,1,1\n1,1,1\n"}, "schema's 1 columns"),
        ({"nodes": "node,a,a\n0,1,1\n1,1,1\n"}, "two columns called 'a'"),
        ({"nodes": "node\n0\n1\n"}, "no feature columns; its schema declares 1"),
        ({"nodes": "node,label,a\n0,2,1\n1,0,1\n"}, "label of node 0"),
        ({"nodes": "node,label,a\n0,0.5,1\n1,0,1\n"}, "'label' of 'nodes.csv' must be integers"),
        ({"schema": "{}"}, "schema must be"),
        ({"schema": "["}, "JSON"),
    ],
)
def test_bad_tables_are_refused_with_their_row(tmp_path, files, message):
    with pytest.raises(InvalidData, match=message):
        load(directory(tmp_path / "g", **files))


@pytest.mark.parametrize("name", ["edges.csv", "nodes.csv", "schema.json"])
def test_missing_files_are_named(tmp_path, name):
    (directory(tmp_path / "g") / name).unlink()
    with pytest.raises(InvalidData, match=name):
        load(tmp_path / "g")


def test_two_forms_of_one_table_are_ambiguous(tmp_path):
    write_edges(directory(tmp_path / "g") / "edges.parquet", [[0], [1]])
    with pytest.raises(InvalidData, match="has both of them"):
        load(tmp_path / "g")


def test_truncated_and_non_text_files_are_refused(tmp_path):
    parquet.write_table(pa.table({"source": [0], "target": [1]}), tmp_path / "e.parquet")
    (tmp_path / "e.parquet").write_bytes((tmp_path / "e.parquet").read_bytes()[:-9])
    with pytest.raises(InvalidData, match="is no parquet table"):
        read_edges(tmp_path / "e.parquet")
    with pytest.raises(InvalidData, match="There is no file"):
        read_edges(tmp_path / "no.csv")
    (directory(tmp_path / "g") / "schema.json").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidData, match="UTF-8"):
        load(tmp_path / "g")


def test_other_suffixes_are_refused(tmp_path):
    with pytest.raises(InvalidParameter, match="csv"):
        read_edges(tmp_path / "e.txt")
    with pytest.raises(InvalidParameter, match="csv"):
        write_edges(tmp_path / "e.txt", [[0], [1]])
    with pytest.raises(InvalidParameter, match="format"):
        write_directory(Graph.from_edges([[0], [1]], 2, schema=Schema(())), tmp_path / "g", "txt")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (Graph.from_edges([[0], [1]], 2), "schema"),
        (Graph.from_edges([[0], [1]], 2, schema=Schema.numeric(2, 0, 1)), "features"),
        (Graph.from_scipy(sp.csr_array([[0, 2.0], [2.0, 0]]), schema=Schema(())), "weights"),
    ],
)
@pytest.mark.parametrize("name", ["g", "g.npz"])
def test_what_the_formats_cannot_hold_is_refused(tmp_path, graph, message, name):
    with pytest.raises(InvalidData, match=message):
        save(graph, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_names_of_the_schema_stand_for_codes(tmp_path):
    schema = Schema((Categories(2, ("no", "yes")), Interval(0, 1)), 2, class_names=("bus", "car"))
    (tmp_path / "schema.json").write_text(schema.to_json())
    (tmp_path / "edges.csv").write_text("source,target\n0,1\n")
    (tmp_path / "nodes.csv").write_text("node,label,smokes,age\n0,car,yes,0.5\n1,,no,1\n2,bus,yes,0\n")
    graph = read_directory(tmp_path)
    assert graph.labels.tolist() == [1, -1, 0]
    assert dense(graph.features).tolist() == [[1, 0.5], [0, 1], [1, 0]]
    (tmp_path / "nodes.csv").write_text("node,label,smokes,age\n0,car,yes,0.5\n1,,maybe,1\n")
    with pytest.raises(InvalidData, match=r"one of no, yes, not maybe in row 1"):
        read_directory(tmp_path)
    (tmp_path / "nodes.csv").write_text("node,label,smokes,age\n0,1,1,0.5\n1,,0,1\n2,0,1,0\n")
    again = read_directory(tmp_path)
    assert (again.labels.tolist(), dense(again.features).tolist()) == ([1, -1, 0], [[1, 0.5], [0, 1], [1, 0]])


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    graph = Graph.from_edges([[0], [1]], 2, schema=Schema(()))
    monkeypatch.setattr(module, "_node_tables", fail)
    with pytest.raises(OSError, match="disk full"):
        write_directory(graph, tmp_path / "g")
    assert list(tmp_path.iterdir()) == []
