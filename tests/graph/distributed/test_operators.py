"""Operators over a store equal the in-memory ones for any number of partitions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from stored_graphs import random_pattern, stored

from privet.errors import InvalidParameter
from privet.graph import distributed, operators
from privet.graph.distributed import ClusterGraph, workspace

OPERATORS = {
    "gcn": lambda home, graph: home.gcn_operator(graph, self_loops=False),
    "gcn with loops": lambda home, graph: home.gcn_operator(graph, self_loops=True),
    "mean": lambda home, graph: home.mean_operator(graph, self_loops=False),
    "mean with loops": lambda home, graph: home.mean_operator(graph, self_loops=True),
    "sum": lambda home, graph: home.sum_operator(graph),
    "pagerank": lambda home, graph: home.pagerank_operator(graph, 0.3),
}


@given(
    seed=st.integers(0, 10_000),
    nodes=st.integers(1, 60),
    partitions=st.sampled_from([1, 2, 7, 16]),
    by=st.sampled_from(["hash", "id"]),
    directed=st.booleans(),
    wide=st.booleans(),
)
def test_every_operator_equals_the_one_in_memory(seed, nodes, partitions, by, directed, wide, tmp_path_factory):
    pattern = random_pattern(seed, nodes, directed=directed)
    dtype = np.float64 if wide else np.float32
    x = np.random.default_rng(seed).standard_normal((nodes, 3)).astype(dtype)
    store = stored(tmp_path_factory.mktemp("s"), pattern, partitions, directed=directed, by=by)
    with ClusterGraph(store) as graph:
        columns = graph.columns(x)
        for name, make in OPERATORS.items():
            expected = make(_InMemory(torch.from_numpy(x).dtype), pattern)
            mine = make(distributed, graph)
            found = mine @ columns
            assert (mine.nnz, mine.shape) == (expected.nnz, expected.shape)
            tolerance = 1e-12 if wide else 1e-5
            np.testing.assert_allclose(
                found.numpy(), (expected @ torch.from_numpy(x)).numpy(), rtol=tolerance, atol=tolerance, err_msg=name
            )
            if not directed:
                turned = (mine.T @ columns).numpy()
                exact = (expected.T @ torch.from_numpy(x)).numpy()
                np.testing.assert_allclose(turned, exact, rtol=tolerance, atol=tolerance)


class _InMemory:
    """The in-memory operators of one type."""

    def __init__(self, dtype: torch.dtype) -> None:
        self.dtype = dtype

    def __getattr__(self, name):
        return lambda *args, **options: getattr(operators, name)(*args, **options, dtype=self.dtype)


@pytest.fixture
def graph(tmp_path):
    with ClusterGraph(stored(tmp_path, random_pattern(2, 60), 5), scratch=tmp_path) as graph:
        yield graph


def test_the_same_hop_gives_the_same_bits_and_moves_the_halo_only(graph):
    operator = distributed.gcn_operator(graph, self_loops=False)
    x = graph.columns(np.random.default_rng(0).standard_normal((60, 4)).astype(np.float32))
    assert ((operator @ x).numpy() == (operator @ x).numpy()).all()
    for parts in operator.reports:
        assert sum(part.moved for part in parts) == graph.store.manifest.halo * 4 * 4


def test_little_memory_splits_the_columns(graph, monkeypatch):
    operator = distributed.gcn_operator(graph, self_loops=False)
    x = graph.columns(np.random.default_rng(0).standard_normal((60, 5)).astype(np.float32))
    added = graph.columns(np.random.default_rng(1).standard_normal((60, 5)).astype(np.float32))
    whole = operator.hop(x, added, factor=0.5, coefficient=2.0).numpy()
    largest = max(part.rows + part.halo for part in graph.store.manifest.partitions)
    monkeypatch.setattr(workspace, "_memory_limit", lambda: 2 * 2 * 4 * largest)  # half of it holds two columns
    split = operator.hop(x, added, factor=0.5, coefficient=2.0).numpy()
    np.testing.assert_allclose(split, whole, atol=1e-6)
    monkeypatch.setattr(workspace, "_memory_limit", lambda: 4 * largest)
    with pytest.raises(InvalidParameter, match="Build the store with more partitions"):
        operator @ x


def test_files_are_removed_with_their_columns(graph):
    operator = distributed.sum_operator(graph).prepare()
    before = set(graph.scratch.iterdir())
    x = graph.columns(np.ones((60, 2), np.float32))
    y = distributed.kprop(x, operator, 3)
    assert len(set(graph.scratch.iterdir()) - before) == 2  # x and the last hop
    del y
    x.close()
    assert set(graph.scratch.iterdir()) == before


def test_unfit_columns_are_refused(graph):
    operator = distributed.sum_operator(graph)
    x = graph.columns(np.ones((60, 2), np.float32))
    with pytest.raises(InvalidParameter, match="floating-point columns of the same graph"):
        operator @ graph.columns(np.ones((60, 2), np.int64))
    with ClusterGraph(graph.store) as other, pytest.raises(InvalidParameter, match="of the same graph"):
        operator @ other.columns(np.ones((60, 2), np.float32))
    with pytest.raises(InvalidParameter, match="added must be"):
        operator.hop(x, graph.columns(np.ones((60, 3), np.float32)))
    with pytest.raises(InvalidParameter, match="one row for each of 60 nodes"):
        graph.columns(np.ones((59, 2)))
    with pytest.raises(InvalidParameter, match=r"a number in \[0, 1\]"):
        distributed.pagerank_operator(graph, 1.5)
