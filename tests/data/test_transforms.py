import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.data import Graph, Schema, group_columns
from privet.errors import InvalidData, InvalidParameter


@settings(deadline=None)
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
