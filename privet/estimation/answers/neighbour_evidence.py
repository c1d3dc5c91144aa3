"""Evidence about a person's class from the answers of neighbours in a public graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.estimation.resistant import bounded_influence, trimmed_means
from privet.graph.memory import topology_of
from privet.graph.operators import GraphLike

__all__ = ["SOURCES", "answer_factors", "class_mixing", "neighbour_evidence", "told_of_neighbours"]

Matrix = NDArray[np.float32]

SOURCES = ("neighbours", "unlabelled_neighbours", "many_neighbours", "similar_neighbours")
"""The names of the sources, in order."""


def neighbour_evidence(
    graph: GraphLike,
    own: Matrix,
    labels: NDArray[np.integer[Any]],
    *,
    trimmed: bool = False,
    bounded: bool = False,
) -> Iterator[Matrix]:
    """Yield four sources of evidence, each people x classes and linear in what neighbours' answers tell.

    An answer that tells P(V | y) of its owner tells log sum_y M[c, y] P(V | y) of a neighbour's class c, where M is the
    mixing of classes along edges between labelled people. The sources are its mean over all neighbours, its mean and
    its sum over the root of the degree for unlabelled neighbours, and the mean of unlabelled neighbours' own evidence.
    They come one after another, so that only one need be held.

    Args:
        graph: The public graph, or its topology or adjacency matrix. Trimming and bounding need it in memory.
        own: Each person's centred log-likelihoods; 0 for people who did not answer.
        labels: The visible label of each person, -1 where there is none.
        trimmed: True to leave out the neighbours who say least and most for a class.
        bounded: True to bound how much one person's answer counts over all neighbours.
    """
    topology = topology_of(graph)
    mixing = class_mixing(topology, labels, own.shape[1]).astype(np.float32)
    told = told_of_neighbours(own, mixing)
    degrees: Any = topology.degrees[:, None]
    roots = np.sqrt(degrees + 1)
    unlabelled = (labels < 0).astype(np.float32)[:, None]
    if bounded:
        factors = answer_factors(topology.matrix("The defence 'bound'"))[:, None]
        told, own = told * factors, own * factors
    if trimmed:
        adjacency = topology.matrix("The defence 'trim'")
        yield trimmed_means(adjacency, told)
        open_ = sp.csr_array(adjacency @ sp.diags_array(unlabelled[:, 0]))
        open_.eliminate_zeros()
        among = np.diff(open_.indptr).astype(np.float32)[:, None]
        near = trimmed_means(open_, told)
        yield near
        yield near * among / roots
        yield trimmed_means(open_, own)
        return
    yield (topology @ told) / np.maximum(degrees, 1)
    among = np.maximum(topology @ unlabelled, 1)
    told *= unlabelled
    near = topology @ told
    del told
    yield near / among
    yield near / roots
    del near
    yield (topology @ (own * unlabelled)) / among


def told_of_neighbours(own: Matrix, mixing: Matrix) -> Matrix:
    """Return log sum_y M[c, y] P(V | y), centred: what a person's answer tells of a neighbour's class.

    Args:
        own: Centred log-likelihoods of the person's own class, any number of rows.
        mixing: M, as :func:`class_mixing` returns it.
    """
    told = np.exp(own) @ mixing.T
    np.log(np.maximum(told, 1e-12, out=told), out=told)
    told -= told.mean(axis=-1, keepdims=True)
    return np.asarray(told)


def answer_factors(adjacency: sp.csr_array) -> Matrix:
    """Return a factor for each person's answer, so that it counts for a bounded part of all means over neighbours."""
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float32)
    share = sp.csr_array(sp.diags_array(1 / np.maximum(degrees, 1)) @ adjacency)
    return bounded_influence(share).astype(np.float32)


def class_mixing(graph: GraphLike, labels: NDArray[np.integer[Any]], classes: int) -> NDArray[np.float64]:
    """Return the share of each class among the labelled neighbours of labelled people of a class, classes x classes."""
    hot = np.zeros((len(labels), classes), dtype=np.float32)
    known = np.flatnonzero(labels >= 0)
    hot[known, labels[known]] = 1
    near = topology_of(graph) @ hot
    counts = np.stack([near[labels == number].sum(axis=0, dtype=np.float64) for number in range(classes)]) + 1e-3
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))
