"""Evidence about a person's class from the answers of neighbours in a public graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["class_mixing", "neighbour_evidence"]

Array = NDArray[np.float64]


def neighbour_evidence(adjacency: sp.csr_array, own: Array, labels: NDArray[np.integer[Any]]) -> list[Array]:
    """Return four sources of evidence, each people x classes and linear in what neighbours' answers tell.

    An answer that tells P(V | y) of its owner tells log sum_y M[c, y] P(V | y) of a neighbour's class c, where M is the
    mixing of classes along edges between labelled people. The sources are its mean over all neighbours, its mean and
    its sum over the root of the degree for unlabelled neighbours, and the mean of unlabelled neighbours' own evidence.

    Args:
        adjacency: The public adjacency matrix.
        own: Each person's centred log-likelihoods; 0 for people who did not answer.
        labels: The visible label of each person, -1 where there is none.
    """
    told = np.log(np.maximum(np.exp(own) @ class_mixing(adjacency, labels, own.shape[1]).T, 1e-12))
    told -= told.mean(axis=1, keepdims=True)
    unlabelled = (labels < 0).astype(np.float64)[:, None]
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64).reshape(-1, 1)
    among = np.asarray(adjacency @ unlabelled)
    near = np.asarray(adjacency @ (told * unlabelled))
    return [
        np.asarray(adjacency @ told) / np.maximum(degrees, 1),
        near / np.maximum(among, 1),
        near / np.sqrt(degrees + 1),
        np.asarray(adjacency @ (own * unlabelled)) / np.maximum(among, 1),
    ]


def class_mixing(adjacency: sp.csr_array, labels: NDArray[np.integer[Any]], classes: int) -> Array:
    """Return the share of each class among the labelled neighbours of labelled people of a class, classes x classes."""
    known = np.flatnonzero(labels >= 0)
    hot = sp.csr_array((np.ones(len(known)), (known, labels[known])), shape=(len(labels), classes))
    counts = (hot.T @ (adjacency @ hot)).toarray() + 1e-3
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))
