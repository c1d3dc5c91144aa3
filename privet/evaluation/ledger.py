"""How a total budget divides: one entry a thing that is randomised, with its mechanism and its own guarantee."""

from __future__ import annotations

from typing import Any

from privet.data import Graph
from privet.privacy import Guarantee
from privet.systems import AnySystem, System

__all__ = ["ledger"]


def ledger(system: AnySystem, graph: Graph) -> list[dict[str, Any]]:
    """The entries whose epsilons and deltas add up to the guarantee of a run; only public facts are read.

    A central run is one entry: its steps are composed by their privacy losses and not by adding.
    """
    if not isinstance(system, System):
        return [_training(system, graph.num_nodes)]
    return [line.to_dict() for line in system.release(graph).lines()]


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
