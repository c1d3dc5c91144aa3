"""METIS finds communities that ids do not show."""

from __future__ import annotations

import numpy as np
import pytest

from privet.data import write_edges
from privet.data.store import build_store
from privet.errors import InvalidParameter
from privet.graph.distributed import metis, metis_parts


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
