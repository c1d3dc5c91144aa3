"""Columns that stay with the workers: equal to those in files, moved by the halo only, and found again after a kill."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
from stored_graphs import random_pattern, stored

from privet.errors import InvalidData
from privet.graph.distributed import (
    ClusterGraph,
    CommsGraph,
    connect,
    gcn_operator,
    kprop,
    mean_operator,
    pagerank_series,
)
from privet.graph.distributed.operators import pagerank_operator

PATTERN = random_pattern(2, 60)
X = np.random.default_rng(0).standard_normal((60, 4)).astype(np.float32)


@pytest.fixture(scope="module")
def client():
    with connect("local:2:1GiB") as client:
        yield client


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return stored(tmp_path_factory.mktemp("comms"), PATTERN, 7)


def test_hops_equal_those_through_files(store, client):
    with ClusterGraph(store) as files, CommsGraph(store, client) as comms:
        for graph in (files, comms):
            operator = gcn_operator(graph, self_loops=True)
            graph.found = [
                kprop(graph.columns(X), operator, 3).numpy(),
                pagerank_series(graph.columns(X), pagerank_operator(graph, 0.3), 0.2, terms=4).numpy(),
                graph.map(lambda _, own: own + 1, graph.columns(X), width=4).numpy(),
                graph.each(lambda part, own: float(own.sum()) + part.number, graph.columns(X)),
            ]
            moved = [sum(part.moved for part in parts) for parts in operator.reports]
            assert moved == [store.manifest.halo * 16] * 3
        for mine, theirs in zip(comms.found, files.found, strict=True):
            np.testing.assert_array_equal(mine, theirs)
        with pytest.raises(InvalidData, match="must be of shape"):
            comms.map(lambda part: part.ids, width=1)


def test_what_a_killed_worker_held_is_computed_again(store, client):
    with CommsGraph(store, client) as graph:
        operator = mean_operator(graph, self_loops=False)
        x = graph.columns(X)
        before = kprop(x, operator, 2)
        expected = before.numpy()
        victim = next(iter(client.who_has(before.futures).values()))[0]
        os.kill(client.run(os.getpid, workers=[victim])[victim], signal.SIGKILL)
        assert (before.numpy() == expected).all()
        assert ((operator @ before).numpy() == kprop(x, operator, 3).numpy()).all()
