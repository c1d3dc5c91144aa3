import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from privet.data import Graph, Schema, Split, load
from privet.data.interop import as_graph, from_networkx, from_pyg, load_pyg, to_networkx, to_pyg
from privet.errors import InvalidData, InvalidParameter

with warnings.catch_warnings():  # PyG compiles a class with torch.jit when it is imported, which torch deprecates
    warnings.simplefilter("ignore", DeprecationWarning)
    from torch_geometric import datasets
    from torch_geometric.data import Data

SCHEMA = Schema.numeric(3, -6, 6, classes=3)


@st.composite
def graphs(draw):
    """Small graphs, directed or not, weighted or not, with and without node data."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    nodes, directed = draw(st.integers(0, 8)), draw(st.booleans())
    matrix = np.triu(rng.random((nodes, nodes)) < 0.4, k=0 if draw(st.booleans()) else 1).astype(np.float32)
    if draw(st.booleans()):
        matrix *= rng.integers(1, 5, matrix.shape) / 4
    features = draw(st.sampled_from([None, rng.normal(size=(nodes, 3)), sp.csr_array(np.eye(nodes, 3))]))
    return Graph.from_scipy(
        sp.csr_array(matrix if directed else np.maximum(matrix, matrix.T)),
        directed=directed,
        self_loops="keep",
        features=features,
        labels=draw(st.none() | st.just(rng.integers(-1, 3, nodes))),
        split=draw(st.none() | st.just(Split(*(rng.integers(4, size=nodes) == np.arange(3)[:, None])))),
        schema=SCHEMA,
    )


def dense(features):
    return features.toarray() if sp.issparse(features) else features


def same(left, right):
    assert left.directed == right.directed
    assert np.array_equal(left.adjacency.toarray(), right.adjacency.toarray())
    assert (left.features is None) == (right.features is None)
    if left.features is not None:
        assert np.array_equal(dense(left.features), dense(right.features))
    assert (left.labels is None) == (right.labels is None)
    if left.labels is not None:
        assert np.array_equal(left.labels, right.labels)


@given(graphs(), st.booleans())
def test_pyg_and_back(graph, sparse):
    data = to_pyg(graph, sparse=sparse)
    data.validate()
    again = from_pyg(data, directed=graph.directed, self_loops="keep", schema=SCHEMA)
    same(again, graph)
    assert (again.split is None) == (graph.split is None)
    if graph.split is not None:
        for part in ("train", "validation", "test"):
            assert np.array_equal(getattr(again.split, part), getattr(graph.split, part))


@given(graphs())
def test_networkx_and_back(graph):
    again = from_networkx(to_networkx(graph), self_loops="keep", schema=SCHEMA)
    none_left = graph.labels is not None and (graph.labels == -1).all()
    lost = {"features": None} if graph.num_nodes == 0 else {}
    same(again, graph.replace(**lost, **({"labels": None} if none_left else {})))


def test_conversions_do_not_share_memory():
    graph = Graph.from_edges([[0], [1]], 2, features=np.ones((2, 1)), labels=[0, 1])
    data = to_pyg(graph)
    data.x.zero_()
    data.y.zero_()
    assert graph.features.sum() == 2
    assert graph.labels.sum() == 1


def test_pyg_masks_and_fields_have_pyg_s_names():
    split = Split(*np.eye(3, dtype=bool))
    data = to_pyg(Graph.from_edges([[0], [1]], 3, features=np.ones((3, 2)), labels=[0, 1, 2], split=split))
    assert data.edge_index.tolist() == [[0, 1], [1, 0]]
    assert data.val_mask.tolist() == [False, True, False]
    assert (data.num_nodes, data.num_features, data.is_undirected()) == (3, 2, True)


def listed(edges, **fields):
    return Data(edge_index=torch.tensor(edges), num_nodes=3, **fields)


def test_pyg_edges_listed_in_both_directions_are_undirected_without_a_warning():
    graph = from_pyg(listed([[0, 1], [1, 0]]))
    assert (graph.directed, graph.edges.tolist()) == (False, [[0], [1]])


@pytest.mark.parametrize(("edges", "told"), [([[0, 2], [1, 1]], "2 of 2"), ([[0, 1, 1], [1, 0, 2]], "1 of 3")])
def test_pyg_edges_listed_in_one_direction_are_taken_in_both_with_a_warning(edges, told):
    with pytest.warns(UserWarning, match=f"{told} edges .* directed=False .* directed=True") as caught:
        graph = from_pyg(listed(edges))
    assert caught[0].filename == __file__
    assert (graph.directed, graph.edges.tolist()) == (False, [[0, 1], [1, 2]])


def test_pyg_direction_can_be_chosen():
    once = listed([[0, 2], [1, 1]], edge_weight=torch.tensor([0.5, 2.0]))
    kept = from_pyg(once, directed=True)
    assert (kept.directed, kept.edges.tolist()) == (True, [[0, 2], [1, 1]])
    both = from_pyg(once, directed=False)  # a warning would be an error here
    assert both.adjacency.toarray().tolist() == [[0, 0.5, 0], [0.5, 0, 2], [0, 2, 0]]


def test_pyg_edges_of_different_weights_in_the_two_directions_are_refused():
    data = listed([[1, 0, 1], [2, 1, 0]], edge_weight=torch.tensor([1.0, 1.0, 2.0]))
    for directed in (None, False):
        with pytest.raises(InvalidData, match=r"between nodes 0 and 1 have different weights.* directed=True"):
            from_pyg(data, directed=directed)
    assert from_pyg(data, directed=True).num_edges == 3
    with pytest.raises(InvalidData, match="finite and above 0"):
        from_pyg(listed([[0], [1]], edge_weight=torch.tensor([-1.0])))


def test_pyg_features_of_edges_are_refused_by_name_or_dropped_on_purpose():
    edges = torch.tensor([[0, 1], [1, 0]])
    data = Data(edge_index=edges, num_nodes=2, edge_attr=torch.ones(2, 3))
    with pytest.raises(InvalidData, match=r"has an edge_attr, .* from_pyg\(data, edge_attr='drop'\)"):
        from_pyg(data)
    assert from_pyg(data, edge_attr="drop").num_edges == 1


def test_pyg_labels_in_one_column_are_read():
    data = Data(edge_index=torch.zeros((2, 0), dtype=torch.long), num_nodes=2, y=torch.tensor([[1], [0]]))
    assert from_pyg(data).labels.tolist() == [1, 0]


def two_edges(**fields):
    return Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2, **fields)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (Data(num_nodes=2), "edge_index"),
        (Data(edge_index=torch.tensor([[0], [2]]), num_nodes=2), "target of edge 0"),
        (Data(edge_index=torch.tensor([[0, 0], [1, 1]]), num_nodes=2), "edge 1 must be listed once"),
        (Data(edge_index=torch.tensor([[1], [1]]), num_nodes=2), "edge to itself"),
        (two_edges(x=torch.tensor([[0.0], [float("nan")]])), "row 1, column 0"),
        (two_edges(y=torch.eye(2, dtype=torch.long)), "labels"),
        (two_edges(edge_weight=torch.ones(3)), "edge_weight"),
        (two_edges(train_mask=torch.tensor([True, False]), test_mask=torch.tensor([True, False])), "node 0 in two"),
    ],
)
def test_bad_pyg_data_is_refused(data, message):
    with pytest.raises(InvalidData, match=message):
        from_pyg(data)


def test_networkx_nodes_of_any_name_are_numbered_in_order():
    network = nx.Graph([("b", "a"), ("a", "c")])
    network.nodes["c"]["y"] = 1
    graph = from_networkx(network)
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.labels.tolist() == [-1, -1, 1]


def test_bad_networkx_graphs_are_refused():
    with pytest.raises(InvalidData, match="parallel"):
        from_networkx(nx.MultiGraph([(0, 1), (0, 1)]))
    with pytest.raises(InvalidData, match="edge to itself"):
        from_networkx(nx.Graph([(0, 0)]))
    network = nx.Graph([(0, 1)])
    network.nodes[0]["x"] = [1.0, 2.0]
    with pytest.raises(InvalidData, match="Node 1 has no attribute x"):
        from_networkx(network)
    network.nodes[1]["x"] = [1.0]
    with pytest.raises(InvalidData, match="equally many"):
        from_networkx(network)


def test_pyg_datasets_load_by_name(monkeypatch, tmp_path):
    class Planetoid:
        def __init__(self, root, name):
            assert root.startswith(str(tmp_path))
            self.name = name

        def __getitem__(self, index):
            return two_edges(y=torch.tensor([index, len(self.name) % 3]))

    monkeypatch.setattr(datasets, "Planetoid", Planetoid)
    assert load_pyg("PubMed", tmp_path).labels.tolist() == [0, 0]
    assert load("pyg:Cora", tmp_path).labels.tolist() == [0, 1]
    monkeypatch.setenv("PRIVET_DATA", str(tmp_path))
    assert load("pyg:Cora").labels.tolist() == [0, 1]
    assert load("pyg:Cora").schema == Schema.numeric(1433, 0, 1, classes=7)
    assert load_pyg("Cora", tmp_path, schema=SCHEMA).schema == SCHEMA


def test_a_pyg_graph_is_taken_as_a_graph_and_other_things_are_refused_with_the_ways_to_make_one():
    graph = Graph.from_edges([[0], [1]], 2)
    assert as_graph(graph, "evaluate") is graph
    assert as_graph(listed([[0, 1, 0], [1, 0, 1]]), "evaluate").num_edges == 1
    with pytest.raises(InvalidData, match=r"evaluate takes a privet Graph, not list\. Make one with from_pyg"):
        as_graph([[0], [1]], "evaluate")


def test_without_a_network_one_sentence_says_so(monkeypatch, tmp_path):
    def fail(*_, **__):
        raise OSError("Name or service not known")

    monkeypatch.setattr(datasets, "Planetoid", fail)
    with pytest.raises(InvalidData, match=r"could not load the dataset 'Cora' .*Name or service not known.* network"):
        load_pyg("Cora", tmp_path)


def test_unknown_pyg_datasets_list_the_known_ones(tmp_path):
    with pytest.raises(InvalidParameter, match=r"one of .*Cora, .*Reddit"):
        load_pyg("cora", tmp_path)
