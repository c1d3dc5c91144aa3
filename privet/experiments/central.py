"""Node-level systems: one figure at a time, for a system or what it is compared with, on one graph, for one seed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from privet.data import Graph, split_nodes
from privet.errors import InvalidParameter
from privet.experiments.measure import Measurement
from privet.experiments.per_class import by_class
from privet.systems import GAP, NDP, CentralSystem, HeterPoisson, PrivateMLP, SmoothedMLP

__all__ = ["BASELINE_KINDS", "CENTRAL_KINDS", "central_subject", "measure_central"]

CENTRAL_KINDS = ("private", "sml", "private_mlp", "smoothed_mlp", "gap", "ndp", "non_private")
BASELINE_KINDS = ("private", "private_mlp", "non_private")
"""What is measured of what HeterPoisson itself is compared with."""


def central_subject(kind: str, system: CentralSystem) -> CentralSystem:
    """The system that a kind of figure is of, with the epsilon and delta of the one that it is compared with."""
    return _KINDS[kind](system)


def measure_central(kind: str, system: CentralSystem, graph: Graph, seed: int) -> Measurement:
    """Accuracy on the test nodes of the paper's 80/20 split. There is no validation part: nothing is chosen."""
    began = time.perf_counter()
    split = split_nodes(graph, 0.8, 0.0, seed=seed)
    subject = central_subject(kind, system)
    if kind == "sml":
        subject = _published(subject, graph.num_nodes)
    fitted = replace(subject, seed=seed).fit(graph.replace(split=split))
    if graph.labels is None:
        raise AssertionError("fit has refused a graph without labels")
    classes = by_class(fitted.predict(), graph.labels, split.test, fitted.probabilities.shape[1])
    return {"test": fitted.score(graph.labels, split.test), "seconds": time.perf_counter() - began, **classes}


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
}
