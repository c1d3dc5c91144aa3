"""The holder's view of a graph, and the bound on degrees that NDP and GAP share."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from thorough import thorough

from privet.data import Graph, Schema, social_graph, split_nodes
from privet.systems.central._training_view import (
    TrainingView,
    bounded_listeners,
    standardised,
    standardised_dense,
    unit_sums,
)


@pytest.fixture(scope="module")
def graph() -> Graph:
    made = social_graph(240, classes=3, average_degree=5, features=12, seed=0)
    return made.replace(split=split_nodes(made, 0.6, 0.1, seed=0))


def test_a_view_has_no_label_outside_training_and_no_edge_to_training_nodes(graph: Graph) -> None:
    view = TrainingView.of(graph, "Test")
    assert (view.labels[~graph.split.train] == -1).all()
    assert np.array_equal(view.labels[graph.split.train], graph.labels[graph.split.train])
    unprotected = graph.split.validation | graph.split.test
    expected = graph.adjacency.toarray() * np.outer(unprotected, unprotected)
    assert np.array_equal(view.among_unprotected().toarray(), expected)
    assert view.among_unprotected().nnz == np.count_nonzero(expected)


def test_rows_are_standardised_alone() -> None:
    rows = np.array([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0]], np.float32)
    found = standardised_dense(rows)
    assert found[0] == pytest.approx([-(1.5**0.5), 0, 1.5**0.5], abs=1e-5)
    assert found[1].tolist() == [0, 0, 0]
    assert np.array_equal(found[:1], standardised_dense(rows[:1]))
    kept = standardised(sp.csr_array(rows), sparse=True)
    np.testing.assert_allclose(kept.dense(), found, atol=1e-6)
    assert np.array_equal(standardised(sp.csr_array(rows), sparse=False), found)


def test_only_unprotected_nodes_decide_whether_examples_stay_sparse(graph: Graph) -> None:
    thin = sp.csr_array(np.eye(graph.num_nodes, 60, dtype=np.float32))
    view = TrainingView.of(graph.replace(features=thin, schema=Schema.numeric(60, 0.0, 1.0, classes=3)), "Test")
    assert view.stays_sparse()
    thick = thin.toarray()
    thick[view.members] = 1.0
    assert TrainingView.of(view.graph.replace(features=sp.csr_array(thick)), "Test").stays_sparse()
    thick[view.unprotected_nodes] = 1.0
    assert not TrainingView.of(view.graph.replace(features=sp.csr_array(thick)), "Test").stays_sparse()
    assert not TrainingView.of(view.graph.replace(features=thick), "Test").stays_sparse()
    nobody = replace(view, unprotected_nodes=np.zeros(graph.num_nodes, dtype=np.bool_))
    assert not nobody.stays_sparse()


@thorough
@given(st.integers(0, 2**32), st.integers(2, 10), st.integers(1, 4), st.booleans())
def test_degrees_are_bounded_and_nothing_is_added(seed: int, nodes: int, most: int, both: bool) -> None:
    dense = np.random.default_rng(seed).random((nodes, nodes)) < 0.6
    kept = bounded_listeners(sp.csr_array(dense.astype(np.float32)), most, both=both).toarray()
    assert (kept <= dense).all()
    assert (kept.sum(0) <= most).all()
    if both:
        assert (kept.sum(1) <= most).all()
    else:
        assert np.array_equal(kept.sum(0), np.minimum(dense.sum(0), most))


def test_sums_are_over_selected_neighbours_of_unit_norm() -> None:
    features = np.array([[3.0, 4.0], [2.0, 0.0], [0.0, 5.0], [0.0, 0.0]], dtype=np.float32)
    star = sp.csr_array(np.array([[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]], dtype=np.float32))
    selected = np.array([True, True, False, True])
    found = unit_sums(features, star, selected, 5).exact()
    np.testing.assert_allclose(found, [[1.6, 0.8], [1.6, 0.8], [0.6, 0.8]], atol=2e-6)


@pytest.mark.parametrize("width", [7, 1433, 10_000, 20_001])
def test_a_rows_bits_do_not_depend_on_its_company(width: int) -> None:
    rows = np.random.default_rng(0).random((5, width)).astype(np.float32)
    together = standardised_dense(rows)
    for number in range(5):
        assert (standardised_dense(rows[number : number + 1])[0] == together[number]).all()
