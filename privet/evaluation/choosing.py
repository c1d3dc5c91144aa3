"""From the command line's words to a system: its preset, the options on top, each of the type that its field has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any

from privet.errors import InvalidParameter
from privet.systems import CENTRAL_SYSTEMS, SYSTEMS, AnySystem
from privet.systems.presets import TRANSFORMS, preset

__all__ = ["combined", "system_for"]


def system_for(name: str, dataset: str, overrides: Mapping[str, Any], condition: str | None = None) -> AnySystem:
    """A system with its preset for a dataset and the given settings on top, in the command line's words."""
    kinds: dict[str, type[AnySystem]] = {**SYSTEMS, **CENTRAL_SYSTEMS}
    if name not in kinds:
        raise InvalidParameter("SYSTEM", "privet", "one of " + ", ".join(kinds), name)
    kind = kinds[name]
    words = {"epsilon": "target_epsilon"} if name in CENTRAL_SYSTEMS else {}
    words |= {"hops": "feature_hops"} if name == "solitude" else {}
    renamed = [(words.get(key, key), value) for key, value in overrides.items()]
    chosen = dict(renamed)
    if len(chosen) < len(renamed):
        raise InvalidParameter("--set", "privet run", "of settings that no other option gives", ", ".join(overrides))
    known = {field.name: field for field in fields(kind)}
    for option in chosen:
        if option not in known:
            raise InvalidParameter(option, "privet", f"a setting of {name}: {', '.join(sorted(known))}", option)
        chosen[option] = _typed(known[option], chosen[option], name)
    settings = {key: value for key, value in preset(name, dataset, condition).items() if key not in TRANSFORMS}
    if name in CENTRAL_SYSTEMS and not {"target_epsilon", "noise_multiplier"} & chosen.keys():
        raise InvalidParameter("--epsilon", f"privet run {name}", "given, or --set noise_multiplier=NUMBER", "nothing")
    return kind(**(settings | chosen))


def combined(options: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were used and the settings of ``--set``, none of which may be given twice.

    >>> combined({"hops": 2}, {"dropout": 0.5})
    {'hops': 2, 'dropout': 0.5}
    """
    twice = sorted(options.keys() & other.keys())
    if twice:
        raise InvalidParameter("--set", "privet run", "of settings that no other option gives", ", ".join(twice))
    return {**options, **other}


def _typed(field: Field[Any], value: Any, system: str) -> Any:
    """The value as its field wants it; ``none`` is None where that is allowed."""
    allowed = {part.strip() for part in str(field.type).split("|")}
    if value is None or (value == "none" and "None" in allowed):
        return None
    numbers: dict[str, tuple[type, ...]] = {"bool": (bool,), "int": (int,), "float": (int, float)}
    wanted = tuple(kind for part in allowed for kind in numbers.get(part, ())) or (str,)
    if isinstance(value, wanted) and ("bool" in allowed or not isinstance(value, bool)):
        return value
    expected = "a word" if wanted == (str,) else "of type " + " or ".join(sorted(allowed)).replace("None", "none")
    raise InvalidParameter(field.name, system, expected, value)
