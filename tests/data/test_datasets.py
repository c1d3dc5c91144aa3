import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from privet.data import KNOWN, Graph, Schema, group_columns, load, save
from privet.errors import InvalidData, InvalidParameter


def arrays(**changes):
    """A well-formed file of the published format: a path of three nodes with two features."""
    x = sp.csr_array(np.array([[1, 0], [0, 0.5], [0, 0]], np.float32))
    content = {
        "num_nodes": np.int64(3),
        "edges": np.array([[0, 1], [1, 2]], np.int32),
        "x_data": x.data,
        "x_indices": x.indices,
        "x_indptr": x.indptr,
        "x_shape": np.array(x.shape),
        "x_low": np.zeros(2, np.float32),
        "x_high": np.array([1, 0.5], np.float32),
        "y": np.array([0, 2, 1]),
    }
    return {key: value for key, value in (content | changes).items() if value is not None}


def write(path, **changes):
    np.savez(path, **arrays(**changes))
    return path


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_published_graphs_load_as_described(name, data_root):
    facts, graph = KNOWN[name], load(name, data_root)
    assert (graph.num_nodes, graph.num_edges) == (facts.nodes, facts.edges)
    assert graph.features.shape == (facts.nodes, facts.features)
    assert (graph.schema.dimension, graph.schema.classes) == (facts.features, facts.classes)
    assert len(np.unique(graph.labels)) == facts.classes
    assert (graph.features.data <= graph.schema.high[graph.features.indices]).all()


def test_the_documentation_lists_every_known_dataset():
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "your-own-graph.md").read_text()
    _, _, listed = page.partition("### Known datasets")
    rows = [line.split("|")[1] for line in listed.partition("## If")[0].splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(KNOWN)


def test_the_root_comes_from_the_environment(data_root, monkeypatch):
    monkeypatch.setenv("PRIVET_DATA", str(data_root))
    assert load("student").num_nodes == 577


@pytest.mark.parametrize(("name", "size", "groups"), [("citeseer", 70, 53), ("cora", 25, 58), ("dblp", 50, 33)])
def test_published_groups(name, size, groups, data_root):
    assert group_columns(load(name, data_root), size).features.shape[1] == groups


def test_largest_component_of_citeseer(data_root):
    # 2,110 nodes and 3,668 edges in the literature belong to another release than the Planetoid one in this file.
    component = load("citeseer", data_root).largest_component()
    assert (component.num_nodes, component.num_edges) == (2_120, 3_679)


def test_a_file_of_the_format_loads_by_path(tmp_path):
    graph = load(write(tmp_path / "mine.npz"))
    assert graph.schema == Schema.numeric(2, 0.0, [1, 0.5], classes=3)
    assert graph.features.toarray().tolist() == [[1, 0], [0, 0.5], [0, 0]]
    assert graph.labels.tolist() == [0, 2, 1]
    assert graph.edges.tolist() == [[0, 1], [1, 2]]


@given(st.from_type(Graph), st.booleans())
def test_npz_reads_back_as_it_was_written(graph, grouped):
    if grouped and graph.features is not None:
        graph = group_columns(graph, 2)
    with tempfile.TemporaryDirectory() as folder:
        save(graph, Path(folder) / "g.npz")
        again = load(Path(folder) / "g.npz")
    assert np.array_equal(again.adjacency.toarray(), graph.adjacency.toarray())
    assert again.schema == graph.schema
    assert (again.features is None) == (graph.features is None)
    if graph.features is not None:
        assert np.array_equal(again.features.toarray(), sp.csr_array(graph.features).toarray())
    labels = None if graph.labels is None or (graph.labels == -1).all() else graph.labels.tolist()
    assert (None if again.labels is None else again.labels.tolist()) == labels


def test_saving_is_deterministic_and_replaces(tmp_path):
    graph = load(write(tmp_path / "a.npz"))
    save(graph, tmp_path / "a.npz")
    first = (tmp_path / "a.npz").read_bytes()
    save(load(tmp_path / "a.npz"), tmp_path / "a.npz")
    assert (tmp_path / "a.npz").read_bytes() == first
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_a_directed_graph_has_no_npz(tmp_path):
    with pytest.raises(InvalidData, match="undirected"):
        save(Graph.from_edges([[0], [1]], 2, directed=True, schema=Schema(())), tmp_path / "g.npz")


def test_a_failed_save_keeps_the_old_file(tmp_path, monkeypatch):
    def fail(stream, **_):
        stream.write(b"half")
        raise OSError("disk full")

    graph = load(write(tmp_path / "a.npz"))
    before = (tmp_path / "a.npz").read_bytes()
    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match="disk full"):
        save(graph, tmp_path / "a.npz")
    assert (tmp_path / "a.npz").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


@pytest.mark.parametrize("key", sorted(arrays()))
def test_missing_keys_are_named(tmp_path, key):
    with pytest.raises(InvalidData, match=f"lacks {key}\\."):
        load(write(tmp_path / "bad.npz", **{key: None}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_nodes": np.float64(3)}, "num_nodes of 'bad.npz' must be integers"),
        ({"num_nodes": np.array([3])}, "num_nodes of 'bad.npz' must be of 0 dimensions"),
        ({"num_nodes": np.int64(4)}, "4 rows"),
        ({"edges": np.array([[0, 1], [1, 3]])}, "target of edge 1"),
        ({"edges": np.array([[0, 1], [1, 0]])}, "edge 1 must be listed once"),
        ({"edges": np.array([[0, 1], [1, 1]])}, "Edge 1 joins a node to itself"),
        ({"edges": np.array([0, 1])}, "edges of 'bad.npz' must be of 2 dimensions"),
        ({"edges": np.array([["a"], ["b"]])}, "edges of 'bad.npz' must be integers"),
        ({"x_data": np.array([1.0])}, "well-formed CSR"),
        ({"x_data": np.array([1.0, np.nan], np.float32)}, "row 1, column 1 is not finite"),
        ({"x_data": np.array(["a", "b"])}, "x_data of 'bad.npz' must be numbers"),
        ({"x_indices": np.array([0, 2])}, "well-formed CSR"),
        ({"x_indptr": np.array([0, 2, 1, 2])}, "well-formed CSR"),
        ({"x_indptr": np.array([0, 2])}, "well-formed CSR"),
        ({"x_shape": np.array([3, -1])}, "two sizes"),
        ({"x_shape": np.array([3])}, "two sizes"),
        ({"x_low": np.zeros(3)}, "x_low of 'bad.npz' must be 2 numbers"),
        ({"x_low": np.array([0, np.nan])}, "x_low and x_high"),
        ({"x_high": np.zeros(2)}, "x_low and x_high"),
        ({"y": np.array([0, 1])}, "labels must be"),
        ({"y": np.array([0, 1, -2])}, "label of node 2"),
        ({"y": np.zeros(3)}, "y of 'bad.npz' must be integers"),
        ({"schema": np.array("{}")}, "schema must be"),
        ({"schema": np.array(1)}, "one string"),
        ({"schema": np.array(Schema.numeric(2, 0, 3, classes=3).to_json())}, "ranges in the schema"),
    ],
)
def test_bad_content_is_refused(tmp_path, changes, message):
    with pytest.raises(InvalidData, match=message):
        load(write(tmp_path / "bad.npz", **changes))


def test_the_declared_schema_is_the_one_used(tmp_path):
    schema = Schema.numeric(2, 0, [1, 0.5], classes=5, private_edges=True)
    assert load(write(tmp_path / "a.npz", schema=np.array(schema.to_json()))).schema == schema


def test_pickles_are_never_loaded(tmp_path):
    np.savez(tmp_path / "bad.npz", **arrays(y=np.array([{}, {}, {}], dtype=object)))
    with pytest.raises(InvalidData, match="Object arrays cannot be loaded"):
        load(tmp_path / "bad.npz")


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.6, 0.99])
def test_truncated_files_are_refused(tmp_path, kept):
    content = write(tmp_path / "bad.npz").read_bytes()
    (tmp_path / "bad.npz").write_bytes(content[: int(kept * len(content))])
    with pytest.raises(InvalidData, match="cannot be read as an npz archive"):
        load(tmp_path / "bad.npz")


def test_flipped_bytes_never_pass_silently(tmp_path):
    content = bytearray(write(tmp_path / "bad.npz").read_bytes())
    place = content.index(np.float32(0.5).tobytes())
    content[place + 3] ^= 0x40
    (tmp_path / "bad.npz").write_bytes(content)
    with pytest.raises(InvalidData, match="cannot be read as an npz archive"):
        load(tmp_path / "bad.npz")


def test_other_files_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    with pytest.raises(InvalidData, match="npz archive"):
        load(tmp_path / "a.npy")
    (tmp_path / "b.npz").write_text("hello")
    with pytest.raises(InvalidData, match="cannot be read as an npz archive"):
        load(tmp_path / "b.npz")


def test_a_known_name_must_match_its_public_description(tmp_path):
    write(tmp_path / "cora.npz")
    with pytest.raises(InvalidData, match=r"'cora' must be of 2708 nodes.* not 3, 2 and 2"):
        load("cora", tmp_path)


def test_names_and_places_that_do_not_exist(tmp_path, monkeypatch):
    monkeypatch.delenv("PRIVET_DATA", raising=False)
    with pytest.raises(InvalidParameter, match=r"no dataset 'Coraa'; did you mean 'cora'\? .*amazon, .*wikipedia\."):
        load("Coraa")
    with pytest.raises(InvalidParameter, match="one of acm, amazon"):
        load("zzz")
    with pytest.raises(InvalidParameter, match="PRIVET_DATA"):
        load("cora")
    with pytest.raises(InvalidParameter, match=r"has no file cora\.npz.* save\(load\('pyg:Cora', '.*cora\.npz'\)\""):
        load("cora", tmp_path)
    with pytest.raises(InvalidParameter, match=r"has no file german\.npz\. Put it there"):
        load("german", tmp_path)
    with pytest.raises(InvalidParameter, match="There is no file or directory"):
        load(tmp_path / "missing.npz")
    with pytest.raises(InvalidParameter, match=r"one of .*Cora, .*Reddit"):
        load("pyg:cora")
