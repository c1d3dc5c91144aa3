"""Parts are complete, balanced, repeatable and follow the communities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from privet.data import social_graph, write_edges
from privet.data.store import build_store
from privet.errors import InvalidParameter
from privet.graph import metis, metis_parts, partition


@given(seed=st.integers(0, 2**32 - 1), directed=st.booleans(), loops=st.booleans(), parts=st.integers(1, 14))
def test_any_graph_can_be_partitioned(
    random_adjacency: Callable[..., sp.csr_array], seed: int, directed: bool, loops: bool, parts: int
) -> None:
    adjacency = random_adjacency(seed, directed=directed, loops=loops, weighted=True)
    nodes = adjacency.shape[0]
    membership = partition(adjacency, min(parts, nodes))
    assert membership.dtype == np.int64
    assert membership.shape == (nodes,)
    assert membership.min() >= 0
    assert membership.max() < min(parts, nodes)


def test_communities_are_found_and_balanced() -> None:
    clique = np.ones((20, 20))
    adjacency = sp.block_diag([clique] * 4, format="lil")
    for first in range(4):  # a ring of one edge between neighbouring cliques
        second = (first + 1) % 4
        adjacency[20 * first, 20 * second + 1] = adjacency[20 * second + 1, 20 * first] = 1.0
    membership = partition(sp.csr_array(adjacency), 4).reshape(4, 20)
    assert (membership == membership[:, :1]).all()
    assert sorted(membership[:, 0]) == [0, 1, 2, 3]


def test_the_same_seed_gives_the_same_parts() -> None:
    graph = social_graph(2000, features=0, seed=3)
    first = partition(graph, 10, seed=1)
    np.testing.assert_array_equal(first, partition(graph, 10, seed=1))
    assert (first != partition(graph, 10, seed=2)).any()
    assert np.bincount(first, minlength=10).max() <= 1.1 * 200


def test_isolated_nodes_are_spread() -> None:
    assert sorted(np.bincount(partition(sp.csr_array((12, 12)), 3), minlength=3)) == [4, 4, 4]


@pytest.mark.parametrize("parts", [0, -1, 4, 1.5, True])
def test_the_number_of_parts_is_checked(parts: int) -> None:
    with pytest.raises(InvalidParameter, match=r"from 1 to the number of nodes, 3, not"):
        partition(sp.csr_array((3, 3)), parts)


@pytest.fixture
def edges(tmp_path):
    rng = np.random.default_rng(0)
    order = rng.permutation(400)
    own = rng.integers(100, size=(2, 3000)) + 100 * rng.integers(4, size=3000)
    drawn = np.sort(order[np.concatenate([own, rng.integers(400, size=(2, 60))], axis=1)], axis=0)
    write_edges(tmp_path / "e.csv", np.unique(drawn[:, drawn[0] != drawn[1]], axis=1))
    return tmp_path / "e.csv"


def test_a_hop_moves_less_than_by_a_hash(edges, tmp_path):
    parts = metis_parts([edges], 400, 4)
    metis_store = build_store(edges, tmp_path / "m", nodes=400, partitions=4, by="metis", parts=parts)
    hash_store = build_store(edges, tmp_path / "h", nodes=400, partitions=4)
    assert metis_store.manifest.halo < hash_store.manifest.halo / 5
    assert (metis_store.adjacency() != hash_store.adjacency()).nnz == 0


def test_a_graph_beyond_memory_is_told(edges, monkeypatch):
    monkeypatch.setattr(metis, "_BYTES_PER_EDGE", 1 << 40)
    with pytest.raises(InvalidParameter, match="METIS needs the graph in memory"):
        metis_parts([edges], 400, 4)
