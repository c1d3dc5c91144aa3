"""Objects from named parameters: an unknown name is an error that lists the known ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from privet.errors import InvalidParameter, UnknownParameter
from privet.mechanisms import Mechanism

if TYPE_CHECKING:
    from privet.systems import CentralSystem, LocalSystem

__all__ = ["check_known", "mechanism_from", "system_kind"]


def mechanism_from(kind: type[Mechanism], parameters: Mapping[str, Any], *, small: bool = False) -> Mechanism:
    """Return a mechanism; what is not given comes from the class's ``example`` and its own defaults.

    Args:
        kind: The mechanism's class.
        parameters: Values by the names of its fields.
        small: True for a version whose reports an audit can list (default False).
    """
    check_known(kind.name, parameters, [field.name for field in fields(kind)])
    return kind(**{**kind.example, **(kind.small if small else {}), **parameters})


def system_kind(name: str, others: Collection[str] = ()) -> type[LocalSystem | CentralSystem]:
    """Return the system of a name; an unknown one is an error that also lists ``others``."""
    from privet.systems import SYSTEMS  # imports torch, which a mechanism does not need

    if name not in SYSTEMS:
        raise InvalidParameter("name", "one of " + ", ".join([*others, *SYSTEMS]), name)
    return SYSTEMS[name]


def check_known(owner: str, parameters: Collection[str], known: Collection[str]) -> None:
    """Refuse a parameter that is not among the known ones."""
    for name in parameters:
        if name not in known:
            raise UnknownParameter(name, owner, known)
