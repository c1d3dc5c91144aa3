"""A stored adjacency answers as the matrix in memory does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stored_graphs import random_pattern, stored

from privet.errors import InvalidData, InvalidParameter
from privet.graph import gcn_operator
from privet.graph.distributed import ClusterGraph, StoredTopology
from privet.graph.memory import MemoryTopology, topology_of
from privet.graph.operators import adjacency_of


@settings(max_examples=8)
@given(seed=st.integers(0, 1 << 16), partitions=st.sampled_from([1, 2, 7]), double=st.booleans())
def test_products_and_normalisations_are_the_matrix_s(
    seed: int, partitions: int, double: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    import torch

    pattern = random_pattern(seed, 40)
    folder = tmp_path_factory.mktemp("store")
    with ClusterGraph(stored(folder, pattern, partitions), scratch=folder) as graph:
        adjacency = StoredTopology(graph)
        held = MemoryTopology(pattern)
        assert topology_of(adjacency) is adjacency
        x = np.random.default_rng(seed).normal(size=(40, 3)).astype(np.float64 if double else np.float32)
        rows = np.array([3, 0, 39])
        close = {"rtol": 1e-5, "atol": 1e-5}
        assert np.allclose(adjacency @ x, pattern @ x, **close)
        assert np.allclose(adjacency @ x[:, 0], pattern @ x[:, 0], **close)
        assert np.allclose(adjacency[rows] @ x, pattern[rows] @ x, **close)
        assert (adjacency @ x).dtype == x.dtype
        assert np.array_equal(adjacency.degrees, held.degrees)
        assert np.array_equal(adjacency.diagonal(), pattern.diagonal())
        assert adjacency.nnz == held.nnz
        assert adjacency.shape == held.shape
        for mine, theirs in (
            (adjacency.mean(), held.mean()),
            (adjacency.symmetric(), held.symmetric()),
            (adjacency.gcn(self_loops=False), held.gcn(self_loops=False)),
            (adjacency.gcn(self_loops=True), held.gcn(self_loops=True)),
        ):
            assert np.allclose(mine @ x, theirs @ x, **close)
            assert np.allclose(mine.hops(x[:, 0], 3), theirs.hops(x[:, 0], 3), **close)
            assert np.allclose(mine.polynomial(x, (0.5, 0.0, 2.0)), theirs.polynomial(x, (0.5, 0.0, 2.0)), **close)
        for normalised in (False, True):
            products = [each.spectral(normalised=normalised) @ x for each in (adjacency, held)]
            assert np.allclose(*products, **close)
        looped = gcn_operator(pattern, self_loops=True, dtype=torch.float64) @ torch.from_numpy(x).double()
        assert np.allclose(adjacency.gcn(self_loops=True) @ x, looped.numpy(), **close)
        assert (adjacency_of(adjacency_graph(adjacency)) != pattern).nnz == 0


def adjacency_graph(adjacency: StoredTopology):
    from privet.data import Graph

    return Graph.from_operator(adjacency)


def test_wrong_shapes_are_refused_and_digests_tell_stores_apart(tmp_path: Path) -> None:
    digests = []
    for seed in (1, 2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        with ClusterGraph(stored(folder, random_pattern(seed, 30), 3), scratch=folder) as graph:
            adjacency = StoredTopology(graph)
            digests.append(adjacency.digest())
            with pytest.raises(InvalidParameter, match="a vector or matrix of 30 rows"):
                adjacency @ np.ones(29)
            assert not adjacency.enumerable
            with pytest.raises(InvalidData, match="The defence trim needs every friendship in memory"):
                adjacency.matrix("The defence trim")
            assert (adjacency.loaded().adjacency != random_pattern(seed, 30)).nnz == 0
            assert not list(graph.scratch.glob("columns-*"))  # nothing is left of a product
            adjacency @ np.ones(30)
            assert not list(graph.scratch.glob("columns-*"))
    assert digests[0] != digests[1]
