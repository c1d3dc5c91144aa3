"""The private perceptron: an edge is never read, and its process is DP-SGD's."""

import numpy as np
import scipy.sparse as sp
from random_graphs import random_graph

from privet.privacy.accounting.processes.poisson_sampling import PoissonSampling
from privet.systems.central.private_mlp import PrivateMLP


def test_no_edge_is_read() -> None:
    graph = random_graph(np.random.default_rng(0), 40)
    system = PrivateMLP(noise_multiplier=2.0, batch_size=10, epochs=1, hidden_channels=4, seed=0)
    without = graph.replace(adjacency=sp.csr_array(graph.adjacency.shape, dtype=np.float32))
    assert np.array_equal(system.fit(graph).probabilities, system.fit(without).probabilities, equal_nan=True)


def test_its_process_is_poisson_sampling() -> None:
    system = PrivateMLP(noise_multiplier=2.0, batch_size=10, epochs=2)
    assert system.process(40) == PoissonSampling(rate=0.25, steps=8, num_nodes=40)
