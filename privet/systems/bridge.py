"""Answers that the systems' classes will give themselves; everything above asks here until they do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from privet.data import Graph
from privet.errors import InvalidParameter
from privet.privacy import Guarantee
from privet.privacy.ledger import LedgerLine
from privet.systems.base import LocalSystem
from privet.systems.fitted import Fitted

__all__ = ["controls", "facts", "find", "guarantee", "lines", "preset_condition", "systems", "without_privacy"]

_BASELINES = {
    "private-mlp": ("DP-MLP", "DP-SGD on an MLP without the graph", "the edges"),
    "smoothed-mlp": ("smoothed", "the private MLP, its predictions smoothed over unprotected edges", None),
    "gap": ("GAP", "GAP with noise for its true sensitivity", None),
    "ndp": ("NDP", "NDP, the bounded-degree private GNN", None),
}


def systems() -> Mapping[str, type[Any]]:
    """SYSTEMS, one registry of all."""
    from privet.systems import CENTRAL_SYSTEMS, SYSTEMS

    return {**SYSTEMS, **CENTRAL_SYSTEMS}


def find(name: str) -> type[Any]:
    """SYSTEMS.find."""
    known = systems()
    if name.lower() not in known:
        raise InvalidParameter("system", "privet", "one of " + ", ".join(known), name)
    return known[name.lower()]


def guarantee(system: Any, graph: Graph) -> Guarantee | None:
    """system.guarantee(public)."""
    found: Guarantee | None = system.guarantee(graph if isinstance(system, LocalSystem) else graph.num_nodes)
    return found


def lines(system: Any, public: Any) -> tuple[LedgerLine, ...]:
    """system.release(public).lines()."""
    if isinstance(system, LocalSystem):
        return system.release(public).lines()
    found = guarantee(system, public)
    name = system.mechanism_names(public)[0]
    return () if found is None else (LedgerLine("training", str(found.unit), name, found.epsilon, found.delta),)


def facts(system: Any, graph: Graph) -> dict[str, float]:
    """system.facts(public): public figures of the training of a central system."""
    if isinstance(system, LocalSystem):
        return {}
    nodes = graph.num_nodes
    noise = system.noise_multiplier_for(nodes)
    return {"noise_multiplier": noise, "steps": system.steps(nodes), "rate": system.rate(nodes)}


def without_privacy(system: Any) -> Any:
    """system.without_privacy(): the same pipeline, given everything as it is."""
    if not isinstance(system, LocalSystem):
        return system.without_privacy()
    lists: dict[str, Any] = {"epsilon_edges": None, "symmetrise": "union"} if system.name == "solitude" else {}
    return replace(system, epsilon_labels=None, **lists)


def preset_condition(name: str, settings: Mapping[str, Any]) -> str | None:
    """kind.preset_condition(settings): which variant of a preset the settings call for."""
    if name == "solitude":
        return None if settings.get("one_sided", True) else "two_sided"
    labels = settings.get("epsilon_labels")
    if labels is None:
        return None
    return {"lpgnn": "private_labels", "rgnn": "noisy_labels" if labels <= 1 else None}.get(name)


def controls(system: Any) -> tuple[Any, ...]:
    """system.controls()."""
    from privet.systems.controls import (
        FEATURES_ONLY,
        LABEL_PROPAGATION,
        NON_PRIVATE,
        STRUCTURE_ONLY,
        Control,
        rival,
        simulate,
    )

    def plain(chosen: Any, graph: Graph, seed: int) -> Fitted:
        return simulate(replace(chosen, calibration="none", feature_hops=0, label_hops=0), graph, seed)

    def smoothed(chosen: Any, graph: Graph, seed: int) -> Fitted:
        return simulate(replace(chosen, calibration="none", label_hops=0), graph, seed)

    def published(chosen: Any, graph: Graph, seed: int) -> Fitted:
        noise = chosen.noise_multiplier
        if chosen.target_epsilon is not None:
            noise = chosen.published_noise_multiplier(chosen.target_epsilon, graph.num_nodes)
        return simulate(replace(chosen, noise="sml", noise_multiplier=noise, target_epsilon=None), graph, seed)

    if system.name == "solitude":
        return (
            Control("noisy_graph", "plain GNN", "the backbone alone on the noisy graph", plain),
            Control("lpgnn_noisy", "LPGNN", "LPGNN on the noisy graph, as the paper adapts it", smoothed),
            replace(FEATURES_ONLY, question="the reported edges"),
            STRUCTURE_ONLY,
            NON_PRIVATE,
        )
    if isinstance(system, LocalSystem):
        return STRUCTURE_ONLY, LABEL_PROPAGATION, FEATURES_ONLY, NON_PRIVATE
    own: tuple[Control, ...] = ()
    if system.name == "heterpoisson":
        own = (Control("sml", "SML", "the paper's SML noise at its claimed epsilon, which does not hold", published),)
    others = [rival(kind, *_BASELINES[name]) for name, kind in systems().items() if _is_rival(name, kind, system)]
    return (*own, *others, NON_PRIVATE)


def _is_rival(name: str, kind: type[Any], system: Any) -> bool:
    return name in _BASELINES and not isinstance(system, LocalSystem) and name != system.name
