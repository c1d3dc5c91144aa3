"""A stored graph with its workers: columns from arrays and from functions of a partition."""

from __future__ import annotations

import numpy as np
import pytest
from stored_graphs import random_pattern, stored

from privet.errors import InvalidData, InvalidParameter
from privet.graph.distributed import ClusterGraph


@pytest.fixture
def graph(tmp_path):
    with ClusterGraph(stored(tmp_path, random_pattern(2, 60), 5), scratch=tmp_path) as graph:
        yield graph


def test_columns_keep_the_order_of_ids(graph):
    x = np.arange(120.0).reshape(60, 2)
    columns = graph.columns(x)
    assert (columns.numpy() == x).all()
    assert (columns.block(3) == x[graph.store.partition(3).ids]).all()
    assert repr(columns) == "Columns(60 x 2, float64)"
    assert (graph.columns(np.arange(60)).numpy()[:, 0] == np.arange(60)).all()


def test_functions_of_a_partition(graph):
    ids = graph.map(lambda part: part.ids[:, None], width=1, dtype=np.int64)
    assert (ids.numpy()[:, 0] == np.arange(60)).all()
    doubled = graph.map(lambda _, own: 2 * own, ids, width=1, dtype=np.float32)
    assert (doubled.numpy()[:, 0] == 2 * np.arange(60)).all()
    assert sum(graph.each(lambda part, own: int(own.sum()), ids)) == 59 * 30
    with pytest.raises(InvalidData, match="block of partition 0 must be of shape"):
        graph.map(lambda part: part.ids, width=1)


def test_the_scratch_directory_is_removed(graph, tmp_path):
    graph.columns(np.ones(60))
    graph.close()
    assert not graph.scratch.exists()
    with pytest.raises(InvalidParameter, match="cannot hold temporary files"):
        ClusterGraph(graph.store, scratch=tmp_path / "none")


def test_a_damaged_block_is_named(graph):
    columns = graph.columns(np.ones((60, 3)))
    path = columns.folder / "part-00002.npy"
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(InvalidData, match=r"part-00002\.npy is damaged"):
        columns.block(2)
