"""Evidence about a person's class from the answers of neighbours in a public graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["SOURCES", "class_mixing", "neighbour_evidence"]

Matrix = NDArray[np.float32]

SOURCES = ("neighbours", "unlabelled_neighbours", "many_neighbours", "similar_neighbours")
"""The names of the sources, in order."""


def neighbour_evidence(adjacency: sp.csr_array, own: Matrix, labels: NDArray[np.integer[Any]]) -> Iterator[Matrix]:
    """Yield four sources of evidence, each people x classes and linear in what neighbours' answers tell.

    An answer that tells P(V | y) of its owner tells log sum_y M[c, y] P(V | y) of a neighbour's class c, where M is the
    mixing of classes along edges between labelled people. The sources are its mean over all neighbours, its mean and
    its sum over the root of the degree for unlabelled neighbours, and the mean of unlabelled neighbours' own evidence.
    They come one after another, so that only one need be held.

    Args:
        adjacency: The public adjacency matrix.
        own: Each person's centred log-likelihoods; 0 for people who did not answer.
        labels: The visible label of each person, -1 where there is none.
    """
    mixing = class_mixing(adjacency, labels, own.shape[1]).astype(np.float32)
    told = np.exp(own) @ mixing.T
    np.log(np.maximum(told, 1e-12, out=told), out=told)
    told -= told.mean(axis=1, keepdims=True)
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float32).reshape(-1, 1)
    yield (adjacency @ told) / np.maximum(degrees, 1)
    unlabelled = (labels < 0).astype(np.float32)[:, None]
    among = np.maximum(adjacency @ unlabelled, 1)
    told *= unlabelled
    near = adjacency @ told
    del told
    yield near / among
    yield near / np.sqrt(degrees + 1)
    del near
    yield (adjacency @ (own * unlabelled)) / among


def class_mixing(adjacency: sp.csr_array, labels: NDArray[np.integer[Any]], classes: int) -> NDArray[np.float64]:
    """Return the share of each class among the labelled neighbours of labelled people of a class, classes x classes."""
    hot = np.zeros((len(labels), classes), dtype=np.float32)
    known = np.flatnonzero(labels >= 0)
    hot[known, labels[known]] = 1
    near = adjacency @ hot
    counts = np.stack([near[labels == number].sum(axis=0, dtype=np.float64) for number in range(classes)]) + 1e-3
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))
