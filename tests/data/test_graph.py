import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from privet.data import Graph, Schema, Split
from privet.errors import InvalidData, InvalidParameter

PATH = [[0, 1], [1, 2]]


def mask(*values):
    return np.array(values, dtype=bool)


@st.composite
def edge_lists(draw):
    nodes = draw(st.integers(1, 8))
    ids = st.integers(0, nodes - 1)
    pairs = draw(st.lists(st.tuples(ids, ids), max_size=20))
    return nodes, np.array(pairs, dtype=np.int64).reshape(-1, 2).T


@given(edge_lists(), st.booleans(), st.sampled_from(["drop", "keep"]))
def test_from_edges_equals_a_dense_reference(edge_list, directed, self_loops):
    nodes, edges = edge_list
    dense = np.zeros((nodes, nodes), np.float32)
    for source, target in edges.T:
        if source != target or self_loops == "keep":
            dense[source, target] = 1
            if not directed:
                dense[target, source] = 1
    graph = Graph.from_edges(edges, nodes, directed=directed, self_loops=self_loops, duplicates="merge")
    assert np.array_equal(graph.adjacency.toarray(), dense)
    assert graph.adjacency.has_canonical_format
    assert graph.adjacency.dtype == np.float32
    assert np.array_equal(graph.degrees, (dense > 0).sum(axis=1))
    assert np.array_equal(graph.edge_index, np.array(np.nonzero(dense)))
    assert np.array_equal(graph.edges, np.array(np.nonzero(dense if directed else np.triu(dense))))
    assert graph.num_edges == graph.edges.shape[1]
    again = Graph.from_scipy(graph.to_scipy(), directed=directed, self_loops="keep")
    assert np.array_equal(again.adjacency.toarray(), dense)


@given(edge_lists(), st.booleans())
def test_from_edges_refuses_exactly_the_lists_with_repetitions(edge_list, directed):
    nodes, edges = edge_list
    seen, repetition = {}, None
    for row, (source, target) in enumerate(edges.T.tolist()):
        key = (source, target) if directed else (min(source, target), max(source, target))
        if key in seen and repetition is None:
            repetition = (seen[key], row)
        seen.setdefault(key, row)
    if repetition is None:
        assert Graph.from_edges(edges, nodes, directed=directed, self_loops="keep").num_edges == len(seen)
    else:
        first, again = repetition
        with pytest.raises(InvalidData, match=rf"The edge {again} must .* repetition of edge {first}\."):
            Graph.from_edges(edges, nodes, directed=directed, self_loops="keep")


def test_rows_named_in_repetitions_are_those_before_loops_were_dropped():
    with pytest.raises(InvalidData, match=r"The edge 2 must be listed once .* not a repetition of edge 1"):
        Graph.from_edges([[0, 0, 1], [0, 1, 0]], 2, self_loops="drop")


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([[0, 1], [1, 3]], "The target of edge 1 must be a node id from 0 to 2"),
        ([[0, -1], [1, 2]], "The source of edge 1 must be a node id from 0 to 2"),
        ([[0, 2], [1, 2]], "Edge 1 joins a node to itself"),
        ([[0.5], [1.0]], "array of integers"),
        ([[0], [1], [2]], r"shape \[2, E\]"),
        ([0, 1], r"shape \[2, E\]"),
    ],
)
def test_from_edges_names_what_is_wrong(edges, message):
    with pytest.raises(InvalidData, match=message):
        Graph.from_edges(edges, 3)


@pytest.mark.parametrize("choice", [{"self_loops": "ignore"}, {"duplicates": "drop"}, {"label": [0, 0, 0]}])
def test_unknown_choices_and_fields_are_refused(choice):
    with pytest.raises(InvalidParameter):
        Graph.from_edges(PATH, 3, **choice)


def test_a_negative_number_of_nodes_is_refused():
    with pytest.raises(InvalidParameter, match="num_nodes"):
        Graph.from_edges([[], []], -1)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(2), "SciPy sparse"),
        (sp.csr_array((2, 3)), "square"),
        (sp.csr_array([[0, 1.0], [0, 0]]), "no entry mirroring row 0, column 1"),
        (sp.csr_array([[0, 1.0], [2.0, 0]]), "a different weight mirroring row 0, column 1"),
        (sp.csr_array([[0, -1.0], [-1.0, 0]]), "above 0.* at row 0, column 1"),
        (sp.csr_array([[0, np.nan], [np.nan, 0]]), "finite.* at row 0, column 1"),
        (sp.csr_array(([1.0, 1.0], [1, 1], [0, 2, 2]), shape=(2, 2)), "duplicate entries, not two at row 0, column 1"),
    ],
)
def test_a_bad_adjacency_is_refused(matrix, message):
    with pytest.raises(InvalidData, match=message):
        Graph(matrix)


def test_a_malformed_csr_is_refused():
    matrix = sp.csr_array(([1.0, 1.0], [1, 0], [0, 1, 2]), shape=(2, 2))
    matrix.indices[0] = 7
    with pytest.raises(InvalidData, match="well-formed"):
        Graph(matrix)


def test_unsorted_rows_are_sorted_in_a_copy():
    matrix = sp.csr_array(([1.0, 1, 1, 1], [2, 1, 0, 0], [0, 2, 3, 4]), shape=(3, 3), dtype=np.float32)
    assert Graph(matrix).adjacency.indices.tolist() == [1, 2, 0, 0]
    assert matrix.indices.tolist() == [2, 1, 0, 0]


def test_directed_graphs_need_no_mirror_and_weights_are_kept():
    graph = Graph.from_scipy(sp.csr_array([[0, 0.5], [0, 0]]), directed=True)
    assert (graph.num_edges, graph.weighted, graph.edges.tolist()) == (1, True, [[0], [1]])


def test_stored_zeros_are_no_edges():
    graph = Graph.from_scipy(sp.csr_array(([1.0, 1.0, 0.0], ([0, 1, 1], [1, 0, 2])), shape=(3, 3)))
    assert graph.edges.tolist() == [[0], [1]]


def test_sparse_features_are_made_canonical_in_a_copy():
    features = sp.csr_array(([1.0, 2.0, 3.0], [1, 0, 0], [0, 3, 3]), shape=(2, 2), dtype=np.float32)
    graph = Graph.from_edges([[0], [1]], 2, features=features)
    assert graph.features.has_canonical_format
    assert graph.features.toarray().tolist() == [[5, 1], [0, 0]]
    assert features.nnz == 3


def test_from_scipy_treats_self_loops_by_choice():
    matrix = sp.csr_array([[2.0, 1.0], [1.0, 0.0]])
    with pytest.raises(InvalidData, match="Node 0 has an edge to itself"):
        Graph.from_scipy(matrix)
    assert Graph.from_scipy(matrix, self_loops="drop").adjacency.toarray().tolist() == [[0, 1], [1, 0]]
    assert Graph.from_scipy(matrix, self_loops="keep").num_edges == 2
    assert matrix.toarray().tolist() == [[2, 1], [1, 0]]


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_features_must_be_finite(dense, bad):
    features = np.zeros((3, 2))
    features[2, 1] = bad
    with pytest.raises(InvalidData, match=r"row 2, column 1 is not finite"):
        Graph.from_edges(PATH, 3, features=features if dense else sp.csr_array(features))


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("bad", [-1, 2, 0.5])
def test_category_codes_must_be_declared(dense, bad):
    features = np.zeros((3, 2))
    features[:, 0] = 7.5  # the interval's values pass: a device clips them
    schema = Schema((Schema.numeric(1, 0, 1).features[0], *Schema.categorical([2]).features))
    Graph.from_edges(PATH, 3, features=features, schema=schema)
    features[1, 1] = bad
    with pytest.raises(InvalidData, match=r"row 1, column 1 is no category"):
        Graph.from_edges(PATH, 3, features=features if dense else sp.csr_array(features), schema=schema)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"features": np.zeros((2, 1))}, "row for each of 3 nodes"),
        ({"features": np.zeros(3)}, "row for each of 3 nodes"),
        ({"features": [["a"], ["b"], ["c"]]}, "numbers"),
        ({"features": np.zeros((3, 3))}, "schema's 2 columns"),
        ({"labels": [0, 1]}, "entry for each of 3 nodes"),
        ({"labels": [0, 1.0, 1]}, "integers"),
        ({"labels": [0, 1, 2]}, "label of node 2 must be below the schema's 2 classes"),
        ({"labels": [0, -2, 1]}, "label of node 1"),
        ({"split": Split(mask(0), mask(0), mask(1))}, "masks over 3 nodes"),
    ],
)
def test_node_data_must_fit(fields, message):
    schema = Schema.numeric(2, 0, 1, classes=2)
    with pytest.raises(InvalidData, match=message):
        Graph.from_edges(PATH, 3, schema=schema, **fields)
    graph = Graph.from_edges(PATH, 3, schema=schema)
    with pytest.raises(InvalidData, match=message):
        graph.replace(**fields)
    with pytest.raises(InvalidData, match=message):
        Graph(graph.adjacency, schema=schema, **fields)


def test_splits_must_be_disjoint_masks_of_one_length():
    with pytest.raises(InvalidData, match="node 1 in two"):
        Split(mask(1, 1), mask(0, 0), mask(0, 1))
    with pytest.raises(InvalidData, match="node 0 in two"):
        Split(mask(0, 1), mask(1, 0), mask(1, 0))
    with pytest.raises(InvalidData, match="test mask must be an array with an entry for each of 2"):
        Split(mask(1, 1), mask(0, 0), mask(0))
    with pytest.raises(InvalidData, match="booleans"):
        Split(np.array([1, 0]), mask(0, 0), mask(0, 0))


def test_replace_returns_a_new_graph_and_checks_what_changed():
    graph = Graph.from_edges(PATH, 3, labels=[0, 1, -1])
    assert graph.degrees.tolist() == [1, 2, 1]
    changed = graph.replace(labels=None, adjacency=sp.csr_array((3, 3)))
    assert changed.labels is None
    assert changed.degrees.tolist() == [0, 0, 0]
    assert graph.labels is not None
    assert graph.labels.tolist() == [0, 1, -1]
    with pytest.raises(InvalidData, match="label of node 1"):
        graph.replace(labels=[0, 3, 0], schema=Schema((), classes=2))
    with pytest.raises(InvalidData, match="label of node 1"):
        graph.replace(labels=[0, 3, 0]).replace(schema=Schema((), classes=2))
    with pytest.raises(InvalidData, match="each of 2 nodes"):
        graph.replace(adjacency=sp.csr_array((2, 2)))
    with pytest.raises(InvalidParameter, match="colour"):
        graph.replace(colour=1)


def test_require_returns_the_fields_or_says_what_is_missing_and_how_to_add_it():
    labels, features = np.array([0, 1, 0]), np.ones((3, 1), np.float32)
    graph = Graph.from_edges(PATH, 3, features=features, labels=labels)
    assert graph.require("labels", "features", owner="LPGNN") == (graph.labels, graph.features)
    with pytest.raises(InvalidData) as caught:
        graph.require("features", "schema", "labels", "split", owner="LPGNN")
    assert str(caught.value) == (
        "LPGNN needs features, a schema, labels and a split; this graph has no schema and no split. "
        "Use from_pyg(data, schema=Schema.numeric(1, low=0, high=1, classes=2)) and split_nodes. "
        "Every feature is 0 or 1 here. Ranges should be public facts, which nobody has to look into the data for."
    )
    with pytest.raises(InvalidData, match=r"has no features and no schema\. Use .* schema=\.\.\.\)\.$"):
        Graph.from_edges(PATH, 3).require("features", "schema", owner="LPGNN")
    with pytest.raises(InvalidData, match=r"this graph has no features. Use Graph.replace\(features=\.\.\.\)\."):
        Graph.from_edges(PATH, 3).require("features", owner="group_columns")


@given(st.from_type(Graph), st.randoms(use_true_random=False))
def test_subgraph_equals_dense_indexing(graph, random):
    nodes = random.sample(range(graph.num_nodes), random.randint(0, graph.num_nodes))
    part = graph.subgraph(nodes)
    assert part.adjacency.has_canonical_format
    assert np.array_equal(part.adjacency.toarray(), graph.adjacency.toarray()[np.ix_(nodes, nodes)])
    for name in ("features", "labels"):
        before, after = getattr(graph, name), getattr(part, name)
        if before is None:
            assert after is None
        else:
            dense = before.toarray() if sp.issparse(before) else before
            assert np.array_equal(after.toarray() if sp.issparse(after) else after, dense[nodes])
    if graph.split is not None:
        assert np.array_equal(part.split.validation, graph.split.validation[nodes])


def test_subgraph_refuses_other_nodes():
    graph = Graph.from_edges(PATH, 3)
    for nodes, message in [
        ([0, 3], "Node 1 of a subgraph"),
        ([-1], "Node 0 of a subgraph"),
        ([2, 0, 2], "positions 0 and 2"),
        ([0.0], "float64"),
        ([True, False], "entry for each of 3"),
    ]:
        with pytest.raises(InvalidData, match=message):
            graph.subgraph(nodes)
    assert graph.subgraph([True, False, True]).num_edges == 0


@pytest.mark.parametrize("directed", [False, True])
def test_largest_component_is_weakly_connected(directed):
    graph = Graph.from_edges([[0, 2, 4], [1, 3, 3]], 6, labels=np.arange(6), directed=directed)
    assert graph.largest_component().labels.tolist() == [2, 3, 4]


def test_the_empty_graph_is_a_graph():
    graph = Graph.from_edges(np.zeros((2, 0), int), 0)
    assert (graph.num_nodes, graph.num_edges, graph.largest_component().num_nodes) == (0, 0, 0)


def test_the_representation_shows_no_values():
    split = Split(mask(1, 0, 0), mask(0, 1, 0), mask(0, 0, 0))
    graph = Graph.from_edges(PATH, 3, features=np.full((3, 2), 0.123), labels=[7, 7, 7], split=split, directed=True)
    expected = "Graph(3 nodes, 2 directed edges, 2 features, labels, Split(1 train, 1 validation, 0 test))"
    assert repr(graph) == expected
