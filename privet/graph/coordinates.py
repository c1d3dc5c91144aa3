"""Coordinates of nodes that depend on the topology alone: spectral ones and propagated random ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh

from privet.graph.memory import topology_of
from privet.graph.operators import GraphLike

__all__ = ["random_coordinates", "spectral_coordinates", "standardised"]

Matrix = NDArray[np.float32]

_DENSE = 256  # up to this many nodes the whole spectrum is cheaper than the search for a part of it
_TOLERANCE = 1e-3


def spectral_coordinates(graph: GraphLike, width: int = 64, *, normalised: bool = False) -> Matrix:
    """Return leading eigenvectors of the adjacency as columns of mean 0 and deviation 1, N x width at most.

    The adjacency itself shows groups around people with many links, of positive and of negative eigenvalues; divided
    by the roots of both degrees it shows groups whatever their size, of positive eigenvalues.

    Args:
        graph: A graph, or a topology or matrix with a symmetric adjacency.
        width: The number of eigenvectors; fewer where the graph is smaller.
        normalised: True to divide each entry by the roots of its two degrees.
    """
    topology = topology_of(graph)
    nodes = topology.num_nodes
    width = min(width, nodes - 2)
    if width < 1 or not topology.nnz:
        return np.zeros((nodes, 0), dtype=np.float32)
    matrix = topology.spectral(normalised=normalised)
    if nodes <= _DENSE:
        values, vectors = np.linalg.eigh(matrix @ np.eye(nodes))
        kept = np.argsort(-values if normalised else -np.abs(values), kind="stable")[:width]
        return standardised(vectors[:, kept])
    start = np.random.default_rng(0).normal(size=nodes).astype(matrix.dtype)  # a fixed one, so that the result repeats
    _, vectors = eigsh(matrix, k=width, which="LA" if normalised else "LM", v0=start, tol=_TOLERANCE)
    return standardised(vectors)


def random_coordinates(graph: GraphLike, width: int = 128, hops: tuple[int, ...] = (2, 4), *, seed: int = 0) -> Matrix:
    """Return random columns after some hops: a projection of powers of the adjacency, as propagated noise is.

    Args:
        graph: A graph, or a topology or matrix with a symmetric adjacency.
        width: The number of random columns.
        hops: The numbers of hops after which the columns are taken, each row scaled to length sqrt(width).
        seed: The seed of the random columns.
    """
    topology = topology_of(graph)
    symmetric = topology.symmetric()
    columns = np.random.default_rng(seed).standard_normal((topology.num_nodes, width), dtype=np.float32)
    taken: list[Any] = []
    for hop in range(1, max(hops) + 1):
        columns = symmetric @ columns
        if hop in hops:
            length = np.linalg.norm(columns, axis=1, keepdims=True)
            taken.append(columns * (np.sqrt(width, dtype=np.float32) / np.maximum(length, 1e-9)))
    return np.concatenate(taken, axis=1)


def standardised(columns: NDArray[Any]) -> Matrix:
    """Shift and scale each column to mean 0 and deviation 1; constant columns become 0."""
    centred = columns - columns.mean(axis=0)
    return np.asarray(centred / np.maximum(centred.std(axis=0), 1e-6), dtype=np.float32)
