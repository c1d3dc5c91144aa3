"""Node-level systems: one figure at a time, for a system or what it is compared with, on one graph, for one seed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.data import Graph, split_nodes
from privet.errors import InvalidParameter
from privet.evaluation.measure import Measurement
from privet.evaluation.per_class import by_class
from privet.reproduction.figures.overlap import OverlappingHeterPoisson
from privet.reproduction.figures.private_embedding import predict_from_embeddings
from privet.systems import GAP, NDP, CentralSystem, Fitted, HeterPoisson, PrivateMLP, SmoothedMLP

__all__ = [
    "BASELINE_KINDS",
    "CENTRAL_KINDS",
    "PRECISION_KINDS",
    "central_subject",
    "embedding_bound",
    "macro_precision",
    "measure_central",
    "measure_precision",
]

CENTRAL_KINDS = ("private", "sml", "private_mlp", "smoothed_mlp", "gap", "ndp", "non_private")
PRECISION_KINDS = (*CENTRAL_KINDS, "private_embedding", "embedding_bound")
BASELINE_KINDS = ("private", "private_mlp", "non_private")
"""What is measured of what HeterPoisson itself is compared with."""


def central_subject(kind: str, system: CentralSystem) -> CentralSystem:
    """The system that a kind of figure is of, with the epsilon and delta of the one that it is compared with."""
    return _KINDS[kind](system)


def measure_central(kind: str, system: CentralSystem, graph: Graph, seed: int) -> Measurement:
    """Accuracy on the test nodes of the paper's 80/20 split. There is no validation part: nothing is chosen."""
    began = time.perf_counter()
    fitted, labels, test = _fitted(kind, system, graph, seed)
    classes = by_class(fitted.predict(), labels, test, fitted.probabilities.shape[1])
    return {"test": fitted.score(labels, test), "seconds": time.perf_counter() - began, **classes}


def measure_precision(kind: str, system: CentralSystem, graph: Graph, seed: int) -> Measurement:
    """Precision on the same test nodes, averaged over classes; or the bound of Theorem 3."""
    began, system = time.perf_counter(), central_subject(kind, system)
    if kind == "embedding_bound":
        if graph.schema is None or system.target_epsilon is None:
            raise InvalidParameter("system", "measure_precision", "one with a target epsilon", system.target_epsilon)
        return {"test": embedding_bound(system.target_epsilon, system.delta_for(graph.num_nodes), graph.schema.classes)}
    if kind == "private_embedding":
        return _embedding_precision(system, graph, seed)
    fitted, labels, test = _fitted(kind, system, graph, seed)
    precision = macro_precision(fitted.predict()[test], labels[test], fitted.probabilities.shape[1])
    return {"test": precision, "seconds": time.perf_counter() - began}


def _embedding_precision(system: CentralSystem, graph: Graph, seed: int) -> Measurement:
    if not isinstance(system, GAP) or graph.labels is None or graph.schema is None:
        raise InvalidParameter("system", "measure_precision", "gap on a labelled graph", system.name)
    predicted = predict_from_embeddings(system, graph, seed)
    test = split_nodes(graph, 0.8, 0.0, seed=seed).test
    return {"test": macro_precision(predicted[test], graph.labels[test], graph.schema.classes)}


def macro_precision(predicted: NDArray[np.int64], labels: NDArray[np.int64], classes: int) -> float:
    """The mean over classes of the share of right ones among the predictions of that class, 0 where there are none.

    >>> macro_precision(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), classes=3)
    0.5
    """
    made = np.bincount(predicted, minlength=classes)
    right = np.bincount(predicted[predicted == labels], minlength=classes)
    return float((right / np.maximum(made, 1)).mean())


def embedding_bound(epsilon: float, delta: float, classes: int) -> float:
    """Theorem 3: (e^eps + delta (C - 1)) / (C - 1 + e^eps) bounds a class's precision where each node's embedding is
    released privately and the classifier predicts the class as often as it occurs.

    >>> round(embedding_bound(2.0, 1e-5, 10), 3)
    0.451
    """
    odds = math.exp(epsilon)
    return (odds + delta * (classes - 1)) / (classes - 1 + odds)


def _fitted(
    kind: str, system: CentralSystem, graph: Graph, seed: int
) -> tuple[Fitted, NDArray[np.int64], NDArray[np.bool_]]:
    """A trained system, and the labels and the test nodes of its split."""
    split = split_nodes(graph, 0.8, 0.0, seed=seed)
    subject = central_subject(kind, system)
    if kind == "sml":
        subject = _published(subject, graph.num_nodes)
    fitted = replace(subject, seed=seed).fit(graph.replace(split=split))
    if graph.labels is None:
        raise AssertionError("fit has refused a graph without labels")
    return fitted, graph.labels, split.test


def _like(kind: type[CentralSystem], **own: Any) -> Callable[[CentralSystem], CentralSystem]:
    """Another system that trains in the same way; noise for a target epsilon is calibrated for its own process."""
    return lambda system: kind(**{field.name: getattr(system, field.name) for field in fields(CentralSystem)} | own)


def _published(system: CentralSystem, num_nodes: int) -> CentralSystem:
    """The paper's noise, as much of it as the paper wants for the same epsilon: its claim, which does not hold."""
    if not isinstance(system, HeterPoisson):
        raise InvalidParameter("system", "measure_central", "heterpoisson, for the paper's own noise", system.name)
    noise = system.noise_multiplier
    if system.target_epsilon is not None:
        noise = system.published_noise_multiplier(system.target_epsilon, num_nodes)
    return replace(system, noise="sml", noise_multiplier=noise, target_epsilon=None)


_KINDS: dict[str, Callable[[CentralSystem], CentralSystem]] = {
    "private": lambda system: system,
    "sml": lambda system: system,
    "private_mlp": _like(PrivateMLP),
    "smoothed_mlp": _like(SmoothedMLP),
    "gap": _like(GAP),
    "ndp": _like(NDP),
    "non_private": lambda system: system.without_privacy(),
    "overlap": lambda system: OverlappingHeterPoisson(**system.settings()),
    "private_embedding": _like(GAP),
    "embedding_bound": lambda system: system,
}
