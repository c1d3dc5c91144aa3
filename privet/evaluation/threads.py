"""Choose the number of threads by the size of a graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from privet.data import Graph

__all__ = ["threads_for"]

_SMALL = 100_000  # entries of the adjacency matrix


@contextmanager
def threads_for(graph: Graph) -> Iterator[None]:
    """Use one thread within the block if the graph is small: a second one would spend most of its time waiting."""
    before = torch.get_num_threads()
    torch.set_num_threads(1 if graph.adjacency.nnz < _SMALL else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
