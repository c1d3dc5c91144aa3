"""How a total budget divides: one entry a thing that is randomised, with its mechanism and its own guarantee."""

from __future__ import annotations

from typing import Any

from privet.data import Graph
from privet.mechanisms import RandomizedResponse
from privet.privacy import Guarantee
from privet.systems import AnySystem, Solitude, System

__all__ = ["ledger"]


def ledger(system: AnySystem, graph: Graph) -> list[dict[str, Any]]:
    """The entries whose epsilons and deltas add up to the guarantee of a run; only public facts are read.

    A central run is one entry: its steps are composed by their privacy losses and not by adding.
    """
    if not isinstance(system, System):
        return [_training(system, graph.num_nodes)]
    if graph.schema is None:
        raise AssertionError("a graph without a schema promises nothing, so there was no run")
    features = system.feature_mechanism(graph.schema)
    entries = [_entry("features", features.name, features.guarantee())]
    if system.epsilon_labels is not None:
        labels = RandomizedResponse(epsilon=system.epsilon_labels, classes=graph.schema.classes)
        entries.append(_entry("label", labels.name, labels.guarantee()))
    if isinstance(system, Solitude) and system.epsilon_edges is not None:
        lists, degrees = system.edge_mechanism(graph.num_nodes), system.degree_mechanism(graph.num_nodes)
        entries.append(_entry("neighbour list", lists.name, lists.guarantee()))
        if degrees is not None:
            entries.append(_entry("length of the list", degrees.name, degrees.guarantee()))
    return entries


def _entry(part: str, mechanism: str, guarantee: Guarantee) -> dict[str, Any]:
    return {
        "part": part,
        "unit": str(guarantee.unit),
        "mechanism": mechanism,
        "epsilon": guarantee.epsilon,
        "delta": guarantee.delta,
    }


def _training(system: Any, num_nodes: int) -> dict[str, Any]:
    guarantee = system.guarantee(num_nodes)
    return {
        **_entry("training", f"{system.noise} noise on sums of clipped gradients", guarantee),
        "noise_multiplier": system.noise_multiplier_for(num_nodes),
        "steps": system.steps(num_nodes),
        "rate": system.rate(num_nodes),
    }
