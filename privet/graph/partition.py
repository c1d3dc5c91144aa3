"""Balanced parts of a graph with few edges between them, by METIS."""

from __future__ import annotations

import secrets

import numpy as np
import pymetis
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.errors import InvalidParameter
from privet.graph.operators import GraphLike, adjacency_of

__all__ = ["partition"]


def partition(graph: GraphLike, parts: int, *, seed: int | None = 0) -> NDArray[np.int64]:
    """Return the part, 0 .. parts - 1, of each node.

    Directions, weights and self-loops are left aside. METIS balances the parts' sizes but may leave a part
    empty when there are nearly as many parts as nodes.

    Args:
        graph: A graph or a square sparse adjacency matrix.
        parts: The number of parts.
        seed: The same seed gives the same parts; None draws a new one.
    """
    adjacency = adjacency_of(graph)
    nodes = int(adjacency.shape[0])
    if isinstance(parts, bool) or not isinstance(parts, int | np.integer) or not 1 <= parts <= nodes:
        expected = f"an integer from 1 to the number of nodes, {nodes}"
        raise InvalidParameter("parts", expected, parts)
    if parts == 1:
        return np.zeros(nodes, dtype=np.int64)
    pattern = sp.csr_array((np.ones(adjacency.nnz, np.int8), adjacency.indices, adjacency.indptr), adjacency.shape)
    either = sp.coo_array(pattern + pattern.T)
    between = either.row != either.col
    pairs = (either.row[between], either.col[between])
    undirected = sp.csr_array((np.ones(int(between.sum()), np.int8), pairs), shape=adjacency.shape)
    neighbours = pymetis.CSRAdjacency(undirected.indptr.astype(np.int64), undirected.indices.astype(np.int64))
    _, membership = pymetis.part_graph(
        int(parts), neighbours, options=pymetis.Options(seed=secrets.randbits(31) if seed is None else int(seed))
    )
    return np.asarray(membership, dtype=np.int64)
