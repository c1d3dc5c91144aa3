"""One figure at a time: a system or one of its controls, on one graph, for one seed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from privet.data import Graph, split_nodes
from privet.mechanisms import SeededBits
from privet.systems import Fitted, System
from privet.systems.controls import features_only, label_propagation, non_private, structure_only

__all__ = ["CONTROLS", "KINDS", "Measurement", "measure", "seeded_split"]

CONTROLS = ("structure_only", "label_propagation", "features_only", "non_private")
KINDS = ("private", *CONTROLS)
Measurement = dict[str, float]


def seeded_split(graph: Graph, seed: int) -> Graph:
    """The papers' random 50/25/25 split of the nodes."""
    return graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=seed))


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
    return {"test": scores["test"], "validation": scores["validation"], "seconds": seconds}


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


def _non_private(system: System, graph: Graph, bits: SeededBits, progress: bool) -> Fitted:
    return non_private(system, graph, bits, progress=progress)


_FITS: dict[str, Callable[[System, Graph, SeededBits, bool], Fitted]] = {
    "private": _private,
    "structure_only": _structure_only,
    "label_propagation": _label_propagation,
    "features_only": _features_only,
    "non_private": _non_private,
}
