"""Choose the number of threads by the size of a graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from privet.data import Graph

__all__ = ["is_small", "threads_for"]

_SMALL = 2_000_000  # entries of the adjacency matrix


def is_small(graph: Graph) -> bool:
    """Tell whether a second thread would spend most of its time waiting on this graph.

    Args:
        graph: The graph.
    """
    return bool(graph.adjacency.nnz < _SMALL)


@contextmanager
def threads_for(graph: Graph) -> Iterator[None]:
    """Use one thread within the block if the graph is small. Results then do not depend on the number of cores.

    Args:
        graph: The graph.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1 if is_small(graph) else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
