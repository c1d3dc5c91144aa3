"""A local order brings neighbours together where that is possible, and results do not depend on it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from privet.graph import Filter, LazyFeatures, gcn_operator
from privet.graph.filter import local_order


def ring_of_cliques(cliques: int = 40, size: int = 8, seed: int = 0) -> sp.csr_array:
    """Communities in a ring, under shuffled numbers."""
    clique = np.ones((size, size)) - np.eye(size)
    blocks = sp.block_diag([clique] * cliques, format="lil")
    for number in range(cliques):
        here, there = number * size, (number + 1) % cliques * size + 1
        blocks[here, there] = blocks[there, here] = 1.0
    order = np.random.default_rng(seed).permutation(cliques * size)
    return sp.csr_array(sp.csr_array(blocks)[order][:, order])


def test_neighbours_come_near() -> None:
    adjacency = ring_of_cliques()
    order = local_order(adjacency)
    assert order is not None
    assert sorted(order) == list(range(adjacency.shape[0]))
    moved = sp.coo_array(adjacency[order][:, order])
    assert np.abs(moved.row - moved.col).max() < 40


def test_a_random_graph_and_a_sorted_one_are_left_alone() -> None:
    random = sp.random_array((300, 300), density=0.1, format="csr", rng=0)
    assert local_order(sp.csr_array(random + random.T)) is None
    path = sp.csr_array(sp.diags_array([np.ones(99), np.ones(99)], offsets=[1, -1]))
    assert local_order(path) is None
    assert local_order(sp.csr_array((5, 5))) is None


@pytest.mark.parametrize("corrected", [False, True])
def test_a_reordered_filter_is_the_same_filter(monkeypatch: pytest.MonkeyPatch, corrected: bool) -> None:
    adjacency = ring_of_cliques()
    operator = gcn_operator(adjacency, self_loops=True, dtype=torch.float64)
    pair = (torch.randn(320, 2, dtype=torch.float64), torch.randn(320, 2, dtype=torch.float64)) if corrected else None
    given = Filter(operator, (0.5, 0.0, 1.0, -2.0), correction=pair)
    assert given.reordered() is given  # the graph fits into the cache
    monkeypatch.setattr("privet.graph.filter._CACHE", 1)
    moved = given.reordered()
    assert moved.order is not None
    assert moved.reordered() is moved
    x = torch.randn(320, 5, dtype=torch.float64)
    torch.testing.assert_close(moved @ x, given @ x)
    torch.testing.assert_close(moved.T @ x, given.T @ x)
    sparse = sp.csr_array(x.numpy())
    np.testing.assert_allclose(moved.sparse(sparse).toarray(), given.sparse(sparse).toarray(), atol=1e-12)


def test_planned_features_train_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("privet.graph.filter._CACHE", 1)
    operator = gcn_operator(ring_of_cliques(), self_loops=True)
    lazy = LazyFeatures.from_sparse(sp.random_array((320, 900), density=0.002, format="csr", rng=0))
    lazy = lazy.propagate(operator, 4)
    planned = lazy.planned(2, 1)
    assert planned.filters[0].order is not None
    weight = torch.randn(900, 2)
    torch.testing.assert_close(planned @ weight, lazy @ weight)
    torch.testing.assert_close(planned.rows(np.array([3, 5])) @ weight, (lazy @ weight)[[3, 5]])
