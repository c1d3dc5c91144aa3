"""Settings that reproduce the published tables: small TOML files beside this module, one a system.

A table of a file is named after a known dataset and overrides the class's defaults for it; tables within it are
conditions, such as ``private_labels``. ``conditions`` holds those that are alike for every known dataset. ``demo`` and
``advice`` are the settings of the demonstration and of advice, which have graphs of their own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from privet.data import KNOWN, Graph, group_columns, public_projection
from privet.data.datasets import known_name

__all__ = ["advised", "demonstrated", "prepared", "preset"]

_TRANSFORMS: dict[str, Callable[[Graph, Any], Graph]] = {
    "group_columns": lambda graph, size: group_columns(graph, int(size)),
    "project": lambda graph, dimension: public_projection(graph, int(dimension)),
}


def preset(system: str, dataset: str, condition: str | None = None) -> dict[str, Any]:
    """Return the settings that a known dataset overrides; those that it does not name keep the class's default.

    Args:
        system: The system's name.
        dataset: The dataset's name. A path is never a known name, whatever its last part is.
        condition: A variant, such as ``private_labels``.
    """
    return {key: value for key, value in _chosen(system, dataset, condition).items() if key not in _TRANSFORMS}


def prepared(graph: Graph, system: str, dataset: str) -> Graph:
    """Transform a known dataset as its preset says before anything is collected: group columns, or project them."""
    return _transformed(graph, _chosen(system, dataset, None))


def demonstrated(system: str, graph: Graph) -> list[tuple[dict[str, Any], Graph]]:
    """Return the settings with which a system is demonstrated on a small graph, each with the graph as it wants it."""
    return [
        ({key: value for key, value in each.items() if key not in _TRANSFORMS}, _transformed(graph, each))
        for each in _document(system).get("demo", ())
    ]


def advised(system: str) -> tuple[dict[str, Any], ...]:
    """Return the settings of a system that advice tries."""
    return tuple(_document(system).get("advice", ()))


def _transformed(graph: Graph, section: Mapping[str, Any]) -> Graph:
    for name, value in section.items():
        if name in _TRANSFORMS:
            graph = _TRANSFORMS[name](graph, value)
    return graph


def _chosen(system: str, dataset: str, condition: str | None) -> dict[str, Any]:
    document = _document(system)
    layers: list[dict[str, Any]] = []
    dataset = known_name(dataset)
    if dataset in KNOWN:
        own = document.get(dataset, {})
        layers += [own] if condition is None else [document.get("conditions", {}).get(condition, {}), own]
        layers += [] if condition is None else [own.get(condition, {})]
    merged: dict[str, Any] = {}
    for layer in layers:
        merged |= {key: value for key, value in layer.items() if not isinstance(value, dict)}
    return merged


@cache
def _document(system: str) -> dict[str, Any]:
    file = files("privet.systems") / "presets" / f"{system}.toml"
    return tomllib.loads(file.read_text()) if file.is_file() else {}
