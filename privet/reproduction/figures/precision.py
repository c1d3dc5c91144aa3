"""Precision averaged over classes, and Theorem 3's bound for private embeddings: HeterPoisson's table 3."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.data import Graph, split_nodes
from privet.errors import InvalidParameter
from privet.reproduction.figures.private_embedding import predict_from_embeddings
from privet.reproduction.measures import Column
from privet.systems import GAP
from privet.systems.controls import rival

__all__ = ["BOUND", "EMBEDDING", "embedding_bound", "macro_precision"]


def macro_precision(predicted: NDArray[np.int64], labels: NDArray[np.int64], classes: int) -> float:
    """Return the mean over classes of the share of right predictions; 0 for a class that is never predicted.

    >>> macro_precision(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), classes=3)
    0.5
    """
    made = np.bincount(predicted, minlength=classes)
    right = np.bincount(predicted[predicted == labels], minlength=classes)
    return float((right / np.maximum(made, 1)).mean())


def embedding_bound(epsilon: float, delta: float, classes: int) -> float:
    """Return Theorem 3's bound (e^eps + delta (C - 1)) / (C - 1 + e^eps) of a class's precision.

    It holds where each node's embedding is released privately and the classifier predicts the class as often as it
    occurs.

    >>> round(embedding_bound(2.0, 1e-5, 10), 3)
    0.451
    """
    odds = math.exp(epsilon)
    return (odds + delta * (classes - 1)) / (classes - 1 + odds)


def _embedding(system: Any, graph: Graph, seed: int) -> float:
    if graph.labels is None or graph.schema is None:
        raise InvalidParameter("graph", "one with labels and a schema", "one without")
    test = split_nodes(graph, 0.8, 0.0, seed=seed).test
    predicted = predict_from_embeddings(system, graph, seed)
    return macro_precision(predicted[test], graph.labels[test], graph.schema.classes)


def _bound(system: Any, graph: Graph, seed: int) -> float:
    if graph.schema is None or system.target_epsilon is None:
        raise InvalidParameter("system", "one with a target epsilon", system.target_epsilon)
    return embedding_bound(system.target_epsilon, system.delta_for(graph.num_nodes), graph.schema.classes)


EMBEDDING = Column(
    "private_embedding",
    "embedding",
    "any classifier on private embeddings of the nodes themselves",
    _embedding,
    rival(GAP).subject,
)
BOUND = Column("embedding_bound", "bound", "Theorem 3's bound for private embeddings", _bound)
