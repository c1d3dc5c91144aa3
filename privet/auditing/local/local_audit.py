"""Audits of local systems: every question at its own budget, and leaks of the collection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from privet.accounts.account import check_known, mechanism_from
from privet.accounts.systems import local_release
from privet.auditing.local.enumeration import ClaimAudit, audit_claim
from privet.auditing.local.leaks import LeakCheck, find_leaks
from privet.data import Graph, Schema, social_graph, split_nodes
from privet.errors import InvalidData, PrivetError
from privet.mechanisms import Mechanism
from privet.systems import LocalSystem

__all__ = ["LocalAudit", "audit_local"]

_FEW_PEOPLE = {"dimension": 2, "classes": 4, "num_nodes": 6}
_FEW_REPORTS = 1000
_PEOPLE = 240
_BUDGETS = ("epsilon_features", "epsilon_edges", "epsilon_labels")


@dataclass(frozen=True)
class LocalAudit:
    """The audits of all questions of a system, and of its collection.

    Attributes:
        system: The system's name.
        questions: For each question its name and the audit of its mechanism.
        leaks: The check that the server receives nothing but reports; None where a trusted aggregator sees raw data.
    """

    system: str
    questions: Mapping[str, ClaimAudit]
    leaks: LeakCheck | None = None

    @property
    def broken(self) -> bool:
        """True if the claim about any question is refuted, or the server received anything but reports."""
        leaking = self.leaks is not None and not self.leaks.holds
        return leaking or any(each.broken for each in self.questions.values())

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "system": self.system,
            "questions": {name: each.to_dict() for name, each in self.questions.items()},
            "collection": None if self.leaks is None else self.leaks.to_dict(),
        }


def audit_local(kind: type[LocalSystem], claim: str = "own", **parameters: Any) -> LocalAudit:
    """Audit the mechanism of every question that a system puts to a device, and look for leaks in its collection.

    A device applies a public function to its private data and randomises the result. Whatever the function is, its
    result is one of the mechanism's inputs, so that an audit over all of these covers every scorer, every offer and
    every published table. Mechanisms keep their budgets and are as small as listing needs. That nothing but their
    reports reaches the server is checked by :func:`~privet.auditing.local.leaks.find_leaks`.

    Args:
        kind: The system's class.
        claim: "own" (default), "published", or an epsilon as a number in text, for every question.
        **parameters: The system's budgets by name; those that are not given are 1 where the system allows it.
    """
    check_known(kind.name, parameters, [field.name for field in fields(kind)])
    system = kind(**_with_budgets(kind, parameters))
    release = local_release(system, **_FEW_PEOPLE)
    if not release.questions:
        raise InvalidData(f"{kind.name} asks nobody for anything, so there is nothing to audit.")
    small = {each.name: _small(each.mechanism) for each in release.questions}
    audits = {mechanism: audit_claim(mechanism, claim) for mechanism in set(small.values())}
    leaks = None if release.aggregated else find_leaks(system, _people(release.population.schema))
    return LocalAudit(kind.name, {name: audits[mechanism] for name, mechanism in small.items()}, leaks)


def _people(schema: Schema) -> Graph:
    """Return some people whose collection is simulated."""
    made = social_graph(_PEOPLE, classes=schema.classes, features=0, average_degree=6.0, seed=0)
    made = made.replace(schema=schema, features=np.zeros((_PEOPLE, schema.dimension)))
    return made.replace(split=split_nodes(made, 0.5, 0.25, seed=0))


def _small(mechanism: Mechanism) -> Mechanism:
    """The mechanism itself if its reports are few, else one of the same budget whose reports can be listed."""
    if mechanism.num_reports <= _FEW_REPORTS:
        return mechanism
    names = [field.name for field in fields(mechanism) if field.name.startswith("epsilon")]
    return mechanism_from(type(mechanism), {name: getattr(mechanism, name) for name in names}, small=True)


def _with_budgets(kind: type[LocalSystem], given: Mapping[str, Any]) -> dict[str, Any]:
    """Add a budget of 1 for everything that the system can ask about."""
    chosen, known = dict(given), {field.name for field in fields(kind)}
    for name in _BUDGETS:
        if name not in known or name in given:
            continue
        try:
            kind(**{**chosen, name: 1.0})
        except PrivetError:
            continue  # this system does not ask about that
        chosen[name] = 1.0
    return chosen
