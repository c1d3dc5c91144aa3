"""Hyper-parameters that reproduce the tables: small TOML files beside this module, one a system."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

from privet.data import Graph, group_columns, public_projection

__all__ = ["TRANSFORMS", "condition_for", "prepared", "preset"]

TRANSFORMS: dict[str, Callable[[Graph, Any], Graph]] = {
    "group_columns": lambda graph, size: group_columns(graph, int(size)),
    "project": lambda graph, dimension: public_projection(graph, int(dimension)),
    "largest_component": lambda graph, wanted: graph.largest_component() if wanted else graph,
}
"""What a preset may do to a graph before anything is collected from it: who takes part, and what they are asked."""


def prepared(graph: Graph, system: str, dataset: str) -> Graph:
    """The graph after the transforms that a preset names: RGNN groups columns, HeterPoisson projects wide features."""
    for name, value in preset(system, dataset).items():
        if name in TRANSFORMS:
            graph = TRANSFORMS[name](graph, value)
    return graph


def preset(system: str, dataset: str, condition: str | None = None) -> dict[str, Any]:
    """The settings of a system on a dataset: its defaults, then the dataset's, then those of a condition.

    A condition is a sub-table of a dataset's, such as ``private_labels``. What a file does not name keeps the
    system's own default.
    """
    document = _document(system)
    layers: list[dict[str, Any]] = [document.get("default", {}), document.get(dataset, {})]
    if condition is not None:
        layers = [part for layer in layers for part in (layer, layer.get(condition, {}))]
    merged: dict[str, Any] = {}
    for layer in layers:
        merged |= {key: value for key, value in layer.items() if not isinstance(value, dict)}
    return merged


def condition_for(system: str, settings: dict[str, Any]) -> str | None:
    """The condition of a run: private labels of LPGNN, very noisy ones of RGNN, Solitude's published mode."""
    if system == "solitude":
        return None if settings.get("one_sided", True) else "two_sided"
    labels = settings.get("epsilon_labels")
    if labels is None:
        return None
    return {"lpgnn": "private_labels", "rgnn": "noisy_labels" if labels <= 1 else None}.get(system)


@cache
def _document(system: str) -> dict[str, Any]:
    file = files("privet.systems") / "presets" / f"{system}.toml"
    return tomllib.loads(file.read_text()) if file.is_file() else {}
