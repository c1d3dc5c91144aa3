"""One figure at a time: a system or one of its controls, on one graph, for one seed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from privet.data import Graph, label_rate, split_nodes
from privet.errors import InvalidParameter
from privet.evaluation.per_class import by_class
from privet.mechanisms import SeededBits
from privet.systems import Fitted, Solitude, System
from privet.systems.controls import features_only, label_propagation, non_private, structure_only

__all__ = ["EDGE_KINDS", "KINDS", "Measurement", "measure", "seeded_split", "summary"]

KINDS = ("private", "structure_only", "label_propagation", "features_only", "non_private")
EDGE_KINDS = ("private", "noisy_graph", "lpgnn_noisy", "structure_only", "features_only", "non_private")
"""What is measured of a system whose server does not know the topology: the paper's two baselines first."""
Measurement = dict[str, float]


def seeded_split(graph: Graph, seed: int, labelled: float = 0.5) -> Graph:
    """The papers' random 50/25/25 split of the nodes; with fewer ``labelled`` ones, the same without the others."""
    split = split_nodes(graph, 0.5, 0.25, seed=seed)
    return graph.replace(split=split if labelled == 0.5 else label_rate(split, labelled / 0.5, seed=seed))


def measure(kind: str, system: System, graph: Graph, seed: int, *, progress: bool = False) -> Measurement:
    """Accuracy on test and validation nodes, and the seconds it took; ``graph`` has a split.

    This is the evaluator: the only code that compares predictions with test labels, after ``fit`` has returned.
    """
    began = time.perf_counter()
    fitted = _FITS[kind](replace(system, seed=seed), graph, SeededBits(seed), progress)
    seconds = time.perf_counter() - began
    if graph.split is None or graph.labels is None:
        raise AssertionError("collect has refused a graph without split and labels")
    scores = {name: fitted.score(graph.labels, getattr(graph.split, name)) for name in ("test", "validation")}
    classes = by_class(fitted.predict(), graph.labels, graph.split.test, fitted.probabilities.shape[1])
    return {"test": scores["test"], "validation": scores["validation"], "seconds": seconds, **_facts(fitted), **classes}


def _facts(fitted: Fitted) -> Measurement:
    """What the server found out besides, such as how many of the reported edges are noise."""
    return {name: float(value) for name, value in fitted.facts.items() if isinstance(value, int | float)}


def summary(values: list[float], factor: float = 100.0) -> dict[str, float | list[float]]:
    """Mean and standard deviation over the seeds, in per cent (as the papers print them) unless told otherwise."""
    array = factor * np.asarray(values)
    spread = float(array.std(ddof=1)) if len(array) > 1 else 0.0
    return {"mean": float(array.mean()), "std": spread, "values": array.tolist()}


def _private(system: System, graph: Graph, bits: SeededBits, progress: bool) -> Fitted:
    return system.fit(system.collect(graph, bits), progress=progress)


def _structure_only(system: System, graph: Graph, bits: SeededBits, progress: bool) -> Fitted:
    return structure_only(system, graph, bits, progress=progress)


def _label_propagation(system: System, graph: Graph, bits: SeededBits, progress: bool) -> Fitted:
    return label_propagation(system.collect(graph, bits))


def _features_only(system: System, graph: Graph, bits: SeededBits, progress: bool) -> Fitted:
    return features_only(system.collect(graph, bits), seed=system.seed)


def _noisy_graph(system: System, graph: Graph, bits: SeededBits, progress: bool) -> Fitted:
    plain = replace(_solitude(system), calibration="none", feature_hops=0, label_hops=0)
    return _private(plain, graph, bits, progress)


def _lpgnn_noisy(system: System, graph: Graph, bits: SeededBits, progress: bool) -> Fitted:
    return _private(replace(_solitude(system), calibration="none", label_hops=0), graph, bits, progress)


def _non_private(system: System, graph: Graph, bits: SeededBits, progress: bool) -> Fitted:
    if isinstance(system, Solitude):
        system = replace(system, epsilon_edges=None, symmetrise="union")
        if graph.schema is not None:
            graph = graph.replace(schema=replace(graph.schema, private_edges=False))
    return non_private(system, graph, bits, progress=progress)


def _solitude(system: System) -> Solitude:
    if not isinstance(system, Solitude):
        raise InvalidParameter("system", "measure", "solitude, for a control on its noisy graph", system.name)
    return system


_FITS: dict[str, Callable[[System, Graph, SeededBits, bool], Fitted]] = {
    "private": _private,
    "structure_only": _structure_only,
    "label_propagation": _label_propagation,
    "features_only": _features_only,
    "noisy_graph": _noisy_graph,
    "lpgnn_noisy": _lpgnn_noisy,
    "non_private": _non_private,
}
