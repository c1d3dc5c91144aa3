"""Small random graphs with isolated nodes and several components."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import scipy.sparse as sp
import torch

RandomAdjacency = Callable[..., sp.csr_array]


def build(seed: int, *, directed: bool = False, loops: bool = False, weighted: bool = False) -> sp.csr_array:
    """At most 14 nodes in two halves that share no edge; the last node has no edge at all."""
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(1, 15))
    present = rng.random((nodes, nodes)) < rng.choice([0.0, 0.2, 0.5, 1.0])
    half = nodes // 2
    present[:half, half:] = present[half:, :half] = False
    if not directed:
        present = np.triu(present) | np.triu(present).T
    np.fill_diagonal(present, present.diagonal() & loops)
    present[-1] = present[:, -1] = False
    weights = rng.uniform(0.1, 3.0, (nodes, nodes)) if weighted else np.ones((nodes, nodes))
    weights = weights if directed else (weights + weights.T) / 2
    return sp.csr_array(np.where(present, weights, 0.0))


@pytest.fixture(scope="session")
def random_adjacency() -> RandomAdjacency:
    return build


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Threads only wait for each other on matrices this small."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
