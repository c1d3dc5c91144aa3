"""Node-level systems: one figure at a time, for a system or what it is compared with, on one graph, for one seed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import fields, replace

from privet.data import Graph, split_nodes
from privet.experiments.measure import Measurement
from privet.systems import CentralSystem, PrivateMLP, SmoothedMLP

__all__ = ["CENTRAL_KINDS", "measure_central"]

CENTRAL_KINDS = ("private", "private_mlp", "smoothed_mlp", "non_private")


def measure_central(kind: str, system: CentralSystem, graph: Graph, seed: int) -> Measurement:
    """Accuracy on the test nodes of the paper's 80/20 split; the controls have the system's own epsilon and delta."""
    began = time.perf_counter()
    split = split_nodes(graph, 0.8, 0.0, seed=seed)
    chosen = _KINDS[kind](replace(system, seed=seed))
    fitted = chosen.fit(graph.replace(split=split))
    if graph.labels is None:
        raise AssertionError("fit has refused a graph without labels")
    return {"test": fitted.score(graph.labels, split.test), "seconds": time.perf_counter() - began}


def _without_graph(kind: type[PrivateMLP]) -> Callable[[CentralSystem], CentralSystem]:
    """The same training without a graph; with noise calibrated for itself, it needs less."""
    return lambda system: kind(**{field.name: getattr(system, field.name) for field in fields(CentralSystem)})


_KINDS: dict[str, Callable[[CentralSystem], CentralSystem]] = {
    "private": lambda system: system,
    "private_mlp": _without_graph(PrivateMLP),
    "smoothed_mlp": _without_graph(SmoothedMLP),
    "non_private": lambda system: system.without_privacy(),
}
