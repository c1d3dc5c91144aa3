"""Make a system from its name, a dataset's preset and settings, each of the type that its field has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any

from privet.errors import InvalidParameter
from privet.systems import SYSTEMS
from privet.systems.presets import preset

__all__ = ["system_for"]


def system_for(name: str, dataset: str, settings: Mapping[str, Any], condition: str | None = None) -> Any:
    """Make a system.

    Args:
        name: The system's name; capitals are understood.
        dataset: A known dataset's name, whose preset overrides the class's defaults; any other word has none.
        settings: The fields of the system that override both; text "none" is None where a field allows it.
        condition: The variant of the preset (default: the one that the settings call for).
    """
    kind = SYSTEMS.find(name)
    known = {field.name: field for field in fields(kind)}
    chosen = dict(settings)
    for key, value in chosen.items():
        if key not in known:
            raise InvalidParameter(key, f"a setting of {kind.name}: {', '.join(sorted(known))}", key)
        chosen[key] = _typed(known[key], value, kind.name)
    variant = condition or kind.preset_condition(chosen)
    return kind(**preset(kind.name, dataset, variant) | chosen)


def _typed(field: Field[Any], value: Any, system: str) -> Any:
    """The value as its field wants it; ``none`` is None where that is allowed."""
    allowed = {part.strip() for part in str(field.type).split("|")}
    if value is None or (isinstance(value, str) and value == "none" and allowed & {"None", "Any"}):
        return None
    if "Any" in allowed:
        if isinstance(value, str):
            raise InvalidParameter(field.name, "a number, or an object that Python code gives", value)
        return value
    if "tuple" in str(field.type):
        listed = isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
        if not listed and not isinstance(value, str):
            raise InvalidParameter(field.name, "words", value)
        return tuple(part for part in value.split(",") if part) if isinstance(value, str) else tuple(value)
    numbers: dict[str, tuple[type, ...]] = {"bool": (bool,), "int": (int,), "float": (int, float)}
    wanted = tuple(kind for part in allowed for kind in numbers.get(part, ())) or (str,)
    if isinstance(value, wanted) and ("bool" in allowed or not isinstance(value, bool)):
        return value
    expected = "a word" if wanted == (str,) else "of type " + " or ".join(sorted(allowed)).replace("None", "none")
    raise InvalidParameter(field.name, expected, value)
