"""Checks that all systems make of their hyper-parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from privet.errors import InvalidParameter

__all__ = ["check_choices"]


def check_choices(system: object, choices: Mapping[str, Any]) -> None:
    """Every named field of the system must be one of the literals of its type."""
    for name, kind in choices.items():
        value = getattr(system, name)
        if value not in get_args(kind):
            raise InvalidParameter(name, f"one of {', '.join(get_args(kind))}", value)
