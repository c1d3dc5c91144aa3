"""A topology in memory: its normalisations are the operators', made once, and its digest tells graphs apart."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch

from privet.data import Graph
from privet.graph import gcn_operator, mean_operator
from privet.graph.memory import MemoryTopology, topology_of

PATH = sp.csr_array(np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]], dtype=np.float32))
COLUMNS = np.arange(8, dtype=np.float32).reshape(4, 2)


def test_normalisations_are_those_of_the_operators() -> None:
    x, topology = torch.from_numpy(COLUMNS), MemoryTopology(PATH)
    mean, gcn = mean_operator(PATH, self_loops=False) @ x, gcn_operator(PATH, self_loops=False)
    assert np.allclose(topology.mean() @ COLUMNS, mean.numpy())
    assert np.allclose(topology.symmetric() @ COLUMNS, (gcn @ x).numpy())
    assert np.array_equal(topology.gcn(self_loops=False) @ COLUMNS, (gcn @ x).numpy())
    assert np.array_equal(topology.gcn(self_loops=False).hops(COLUMNS, 0), COLUMNS)
    assert topology.mean_matrix is topology.mean_matrix
    assert topology.spectral(normalised=True) is topology.symmetric_matrix


def test_weights_count_in_a_mean() -> None:
    weighted = sp.csr_array(np.array([[0, 3, 1], [3, 0, 0], [1, 0, 0]], dtype=np.float32))
    found = MemoryTopology(weighted).mean() @ np.array([0.0, 4.0, 8.0])
    assert found.tolist() == [5.0, 0.0, 0.0]


def test_a_topology_comes_from_a_graph_a_matrix_or_itself() -> None:
    topology = topology_of(PATH)
    assert topology_of(topology) is topology
    assert topology_of(Graph(PATH)).digest() == topology.digest()
    assert topology.enumerable
    assert topology.matrix("nobody") is topology.loaded().adjacency
    assert topology.degrees.tolist() == [1, 2, 1, 0]


def test_digests_tell_patterns_and_weights_apart() -> None:
    digests = {topology_of(each).digest() for each in (PATH, PATH.copy(), sp.csr_array(np.eye(4)), PATH * 2)}
    assert len(digests) == 3
