"""Propagation over a store equals propagation in memory."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from stored_graphs import random_pattern, stored

from privet.errors import InvalidParameter
from privet.graph import Filter, gcn_operator, kprop, pagerank_operator, pagerank_series
from privet.graph import distributed as on_disk
from privet.graph.distributed import ClusterGraph

PATTERN = random_pattern(2, 60)
X = np.random.default_rng(0).standard_normal((60, 4)).astype(np.float32)


@pytest.fixture(params=[1, 7])
def graph(request, tmp_path):
    with ClusterGraph(stored(tmp_path, PATTERN, request.param)) as graph:
        yield graph


@pytest.mark.parametrize("hops", [0, 1, 4])
def test_kprop(graph, hops):
    found = on_disk.kprop(graph.columns(X), on_disk.gcn_operator(graph, self_loops=False), hops)
    expected = kprop(torch.from_numpy(X), gcn_operator(PATTERN, self_loops=False), hops)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-5)


@pytest.mark.parametrize("terms", [1, 2, 9])
def test_pagerank(graph, terms):
    x = graph.columns(X)
    found = on_disk.pagerank_series(x, on_disk.pagerank_operator(graph, 0.3), 0.2, terms=terms)
    expected = pagerank_series(torch.from_numpy(X), pagerank_operator(PATTERN, 0.3), 0.2, terms=terms)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-5)
    assert (x.numpy() == X).all()


def test_a_polynomial_with_gaps(graph):
    found = on_disk.polynomial(graph.columns(X), on_disk.gcn_operator(graph, self_loops=True), (0.5, 0.0, 2.0))
    expected = Filter(gcn_operator(PATTERN, self_loops=True), (0.5, 0.0, 2.0)) @ torch.from_numpy(X)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-5)


def test_bad_arguments_are_told(graph):
    x, operator = graph.columns(X), on_disk.gcn_operator(graph, self_loops=True)
    with pytest.raises(InvalidParameter, match="either terms or tolerance; neither was given"):
        on_disk.pagerank_series(x, operator, 0.2)
    with pytest.raises(InvalidParameter, match="an integer of at least 0"):
        on_disk.kprop(x, operator, -1)
    with pytest.raises(InvalidParameter, match="at least one finite number"):
        on_disk.polynomial(x, operator, ())
