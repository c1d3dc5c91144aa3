import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from privet.data import Graph, Schema, group_columns, public_projection
from privet.errors import InvalidData, InvalidParameter


@given(st.from_type(Graph).filter(lambda graph: graph.features is not None), st.integers(1, 6))
def test_groups_equal_a_dense_or(graph, size):
    before = sp.csr_array(graph.features).toarray()
    grouped = group_columns(graph, size)
    groups = [before[:, start : start + size].any(axis=1) for start in range(0, before.shape[1], size)]
    assert np.array_equal(grouped.features.toarray(), np.stack(groups, axis=1))
    assert grouped.schema == Schema.categorical(
        [2] * len(groups), classes=graph.schema.classes, private_edges=graph.schema.private_edges
    )
    assert np.array_equal(sp.csr_array(graph.features).toarray(), before)


def test_stored_zeros_are_not_set():
    stored = sp.csr_array((np.array([0.0, 1.0]), ([0, 1], [0, 0])), shape=(2, 1))
    graph = Graph.from_edges([[0], [1]], 2, features=stored, schema=Schema.numeric(1, 0, 1))
    assert group_columns(graph, 1).features.toarray().tolist() == [[0], [1]]


@pytest.mark.parametrize("size", [0, -1, 2.0, True])
def test_sizes_must_be_positive_integers(size):
    graph = Graph.from_edges([[0], [1]], 2, features=np.ones((2, 1)), schema=Schema.numeric(1, 0, 1))
    with pytest.raises(InvalidParameter, match="size"):
        group_columns(graph, size)


def test_features_and_schema_are_needed():
    for fields in ({}, {"features": np.ones((2, 1))}):
        with pytest.raises(InvalidData, match="features and a schema"):
            group_columns(Graph.from_edges([[0], [1]], 2, **fields), 2)


@given(st.from_type(Graph).filter(lambda graph: graph.features is not None), st.integers(1, 6), st.integers(0, 3))
def test_projection_is_linear_public_and_within_its_declared_ranges(graph, dimension, seed):
    projected = public_projection(graph, dimension, seed=seed)
    columns = graph.features.shape[1]
    unit = graph.subgraph(np.zeros(graph.num_nodes, bool))  # the matrix is the projection of the unit vectors
    identity = Graph.from_edges(np.zeros((2, 0), int), columns, features=np.eye(columns), schema=unit.schema)
    signs = public_projection(identity, dimension, seed=seed).features
    assert np.allclose(np.abs(signs), dimension**-0.5)
    assert np.allclose(projected.features, sp.csr_array(graph.features).toarray() @ signs, atol=1e-4)
    low, high = graph.schema.low, graph.schema.high
    for corner in np.random.default_rng(seed).integers(2, size=(20, columns)):
        row = np.where(corner, low, high) @ signs
        assert (row >= projected.schema.low).all()
        assert (row <= projected.schema.high).all()
    assert projected.schema.classes == graph.schema.classes
    assert projected.schema.private_edges == graph.schema.private_edges


def test_projection_ranges_are_attained_and_seeds_differ():
    graph = Graph.from_edges([[0], [1]], 2, features=np.ones((2, 3)), schema=Schema.numeric(3, 0, 1))
    schema = public_projection(graph, 50).schema
    assert np.allclose(schema.high - schema.low, 3 / 50**0.5, rtol=1e-3)
    one, other = (public_projection(graph, 50, seed=seed).features for seed in (0, 1))
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(("dimension", "seed", "name"), [(0, 0, "dimension"), (2.0, 0, "dimension"), (2, -1, "seed")])
def test_projection_parameters(dimension, seed, name):
    graph = Graph.from_edges([[0], [1]], 2, features=np.ones((2, 1)), schema=Schema.numeric(1, 0, 1))
    with pytest.raises(InvalidParameter, match=name):
        public_projection(graph, dimension, seed=seed)
    with pytest.raises(InvalidData, match="features and a schema"):
        public_projection(Graph.from_edges([[0], [1]], 2), 2)
