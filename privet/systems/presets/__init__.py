"""Systems by name, with settings that reproduce the published tables: small TOML files, one a system.

A table of a file is named after a known dataset and overrides the class's defaults for it; tables within it are
conditions, such as ``private_labels``. ``conditions`` holds those that are alike for every known dataset.
``published`` has the same form and holds what the system's paper describes, for every dataset and then for each of
the paper's own. ``demo`` and ``advice`` are the settings of the demonstration and of advice, which have graphs of their
own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from types import NoneType
from typing import Any, get_origin

from privet.data import KNOWN, Graph, group_columns, public_projection
from privet.data.datasets import known_name
from privet.errors import InvalidParameter
from privet.systems import SYSTEMS, System
from privet.systems.declared import Declared, declared_kinds

__all__ = ["advised", "competing", "demonstrated", "is_published", "prepared", "preset", "published", "system_for"]

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


def published(
    kind: type[Declared], dataset: str | None, settings: Mapping[str, Any], condition: str | None = None
) -> dict[str, Any]:
    """Return the settings of a system's paper.

    Args:
        kind: The system's class.
        dataset: A known dataset's name; one that the paper does not use has the settings of all datasets alone.
        settings: The settings that override them.
        condition: The variant, such as ``links`` (default: the one that the settings call for).
    """
    described = _document(kind.name).get("published")
    if described is None:
        raise InvalidParameter(f"{kind.name} has no published settings: no paper that privet reproduces describes it.")
    known = described.get(known_name(dataset or ""), {})
    variant = condition or kind.preset_condition(dict(settings))
    layers = [described, described.get("conditions", {}).get(variant, {}), known, known.get(variant, {})]
    chosen = {key: value for layer in layers for key, value in layer.items() if not isinstance(value, dict)}
    known_kinds = declared_kinds(kind)
    return {key: _read(key, known_kinds[key], value) for key, value in chosen.items() if key not in settings}


def is_published(system: str) -> bool:
    """Tell whether a paper's own settings of a system are known."""
    return "published" in _document(system)


def system_for(
    name: str,
    dataset: str,
    settings: Mapping[str, Any],
    condition: str | None = None,
    *,
    as_published: bool = False,
) -> System:
    """Make a system from its name, a dataset's preset and settings, each of the type that its field has.

    Args:
        name: The system's name; capitals are understood.
        dataset: A known dataset's name, whose preset overrides the class's defaults; any other word has none.
        settings: The fields of the system that override both; text "none" is None where a field allows it.
        condition: The variant of the preset (default: the one that the settings call for).
        as_published: True for the settings of the system's paper in place of the preset.
    """
    kind = SYSTEMS.find(name)
    known = declared_kinds(kind)
    chosen = dict(settings)
    for key, value in chosen.items():
        if key not in known:
            raise InvalidParameter(f"{kind.name} has no setting {key}. Its settings are {', '.join(sorted(known))}.")
        chosen[key] = _read(key, known[key], value)
    if as_published:
        return kind.as_published(dataset, condition, **chosen)
    variant = condition or kind.preset_condition(chosen)
    return kind(**preset(kind.name, dataset, variant) | chosen)


def demonstrated(system: str, graph: Graph) -> list[tuple[dict[str, Any], Graph]]:
    """Return the settings with which a system is demonstrated on a small graph, each with the graph as it wants it."""
    return [
        ({key: value for key, value in each.items() if key not in _TRANSFORMS}, _transformed(graph, each))
        for each in _document(system).get("demo", ())
    ]


def advised(system: str) -> tuple[dict[str, Any], ...]:
    """Return the settings of a system that advice tries."""
    return tuple(_document(system).get("advice", ()))


def competing(system: str) -> tuple[dict[str, Any], ...] | None:
    """Return how a system takes part in a leaderboard: a ``label``, and each of its ``budgets``' share of epsilon.

    Args:
        system: The system's name.

    Returns:
        One entry for each way; None where the system says nothing of it.
    """
    stated = _document(system).get("leaderboard")
    return None if stated is None else tuple(stated)


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


def _read(name: str, kinds: tuple[Any, ...], value: Any) -> Any:
    """Return the value that a word of the command line or of a file stands for: nothing, several words, or itself."""
    if not isinstance(value, str):
        return value
    if value == "none" and {NoneType, Any} & set(kinds):
        return None
    if Any in kinds:
        raise InvalidParameter(name, "a number, or an object that Python code gives", value)
    return tuple(part for part in value.split(",") if part) if get_origin(kinds[0]) is tuple else value
