"""Settings as the fields of a system declare them: their types are checked, and a paper's own values can be had."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

from privet.errors import InvalidParameter

__all__ = ["Declared", "declared_kinds"]

_IN_WORDS = {NoneType: "None", bool: "true or false", int: "an integer", float: "a number", str: "a word"}


class Declared:
    """A frozen dataclass whose fields are settings."""

    name: ClassVar[str]

    def check_types(self) -> None:
        """Refuse values of another type than their field has; one of words or numbers is its owner's to check."""
        for name, kinds in declared_kinds(type(self)).items():
            value = getattr(self, name)
            mixed = len(kinds) > 1 and any(get_origin(kind) is Literal for kind in kinds)
            if not mixed and not any(_fits(kind, value) for kind in kinds):
                raise InvalidParameter(name, _in_words(kinds), value)

    @classmethod
    def preset_condition(cls, settings: Mapping[str, Any]) -> str | None:
        """Name the variant of a preset that some settings call for; None for the usual one."""
        return None

    @classmethod
    def as_published(cls, dataset: str | None = None, condition: str | None = None, **changes: Any) -> Self:
        """Make the system that its paper describes, with the paper's settings; our defaults differ.

        The guarantee is the true one all the same, and a paper's other claim is its ``published_epsilon``.

        Args:
            dataset: A known dataset, whose settings in the paper are taken (default: those of all datasets).
            condition: A variant, such as "links" (default: the one that the changes call for).
            **changes: Settings that override the paper's.
        """
        from privet.systems.presets import published

        return cls(**published(cls, dataset, changes, condition), **changes)


def declared_kinds(owner: type[Any]) -> dict[str, tuple[Any, ...]]:
    """Return for each field the types that its values may have.

    Args:
        owner: A dataclass. If one of its annotations is of a name that exists for type checkers only, anything goes.
    """
    try:
        hints = get_type_hints(owner)
    except NameError:
        hints = {}
    found = {field.name: hints.get(field.name, Any) for field in fields(owner)}
    return {name: get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,) for name, hint in found.items()}


def _fits(kind: Any, value: Any) -> bool:
    if get_origin(kind) is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if get_origin(kind) is tuple:
        return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
    if kind not in _IN_WORDS:
        return True  # what it must be, its owner says
    number = {int: Integral, float: Real}.get(kind)
    return isinstance(value, kind) if number is None else isinstance(value, number) and not isinstance(value, bool)


def _in_words(kinds: tuple[Any, ...]) -> str:
    if get_origin(kinds[0]) is Literal:
        return f"one of {', '.join(get_args(kinds[0]))}"
    return " or ".join(_IN_WORDS.get(kind, "words") for kind in sorted(kinds, key=lambda kind: kind is not NoneType))
