"""Ways to spend a budget: systems that protect what is asked, with their mechanism, hops and split of the budget.

Beside them stand ways that do without the features, or without the friend lists.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from privet.data import Graph, Schema
from privet.errors import InvalidParameter, PrivetError
from privet.privacy import Unit
from privet.systems import SYSTEMS, LocalSystem
from privet.systems.controls import FEATURES_ONLY, LABEL_PROPAGATION, STRUCTURE_ONLY, Control, simulate
from privet.systems.fitted import Fitted
from privet.systems.presets import advised

__all__ = ["PROTECTABLE", "SPLITS", "Candidate", "candidates", "featureless", "without"]

PROTECTABLE = ("features", "features,labels", "features,edges", "person")
SPLITS = {
    "features": (1.0,),
    "features,labels": (0.5, 0.25, 0.75),
    "features,edges": (0.25, 0.1, 0.5),
    "person": (1.0,),
}
"""Shares of the budget that features may get, the one to begin with first."""

_HOPS = ("hops", "feature_hops")
_ALONE = {LABEL_PROPAGATION.key: "label propagation", FEATURES_ONLY.key: "the features without the graph"}


@dataclass(frozen=True)
class Candidate:
    """A way to spend the budget.

    Attributes:
        system: The system that is trained.
        mechanism: The mechanism of the features; "none" where they are not collected.
        share: The features' share of the budget.
        control: A control that is trained instead of the system.
    """

    system: LocalSystem
    mechanism: str
    share: float
    control: Control | None = None

    @property
    def name(self) -> str:
        """The name of what is trained."""
        if self.control is None:
            return self.system.name
        return _ALONE.get(self.control.key, f"{self.system.name} on the structure")

    @property
    def hops(self) -> str:
        """The number of hops that the system looks; empty where it does not choose that."""
        settings = self.system.settings()
        if self.control is not None and self.control.key in _ALONE:
            return ""
        return next((str(settings[name]) for name in _HOPS if name in settings), "")

    @property
    def epsilons(self) -> dict[str, float]:
        """The budget of each part that is collected; of edges that of a list bit, half of a relationship's."""
        settings = self.system.settings()
        parts = {part: settings.get(f"epsilon_{part}") for part in ("features", "labels", "edges", "person")}
        return {
            part: value for part, value in parts.items() if value is not None and (part != "features" or self.share)
        }

    def with_share(self, protect: str, budget: float, share: float) -> Candidate:
        """Return the same way with another split of the budget."""
        return replace(self, system=_split(self.system, protect, budget, share), share=share)

    def trained(self, people: Graph, seed: int) -> Fitted:
        """Collect and fit on a draw of a world."""
        if self.control is None:
            return simulate(self.system, people, seed)
        fitted: Fitted = self.control.fit(replace(self.system, seed=seed), people, seed)
        return fitted


def candidates(protect: str, budget: float, schema: Schema) -> list[Candidate]:
    """Return every way that the systems' presets propose, all with the first split of the budget.

    Args:
        protect: One of :data:`PROTECTABLE`.
        budget: The total epsilon of a person.
        schema: The declared features and classes; systems that cannot ask about them are left out.
    """
    if protect not in PROTECTABLE:
        raise InvalidParameter("protect", " or ".join(PROTECTABLE), protect)
    if not 0 < budget < math.inf:
        raise InvalidParameter("budget", "a finite number above 0", budget)
    share, found = SPLITS[protect][0], []
    for kind, settings in _proposed(protect):
        try:
            system = _split(kind(**settings), protect, budget, share)
            lines = system.release(_nobody(schema)).lines()
        except PrivetError:
            continue  # this system cannot ask about these features
        mechanism = next(line.mechanism for line in lines if Unit(line.unit).covers(Unit.FEATURES))
        found.append(Candidate(system, mechanism, share))
    return found


def featureless(protect: str, budget: float, schema: Schema) -> list[Candidate]:
    """Return the systems that do without the features, with the whole budget for the rest, if there is any.

    Args:
        protect: One of :data:`PROTECTABLE`.
        budget: The total epsilon of a person.
        schema: The declared features and classes.
    """
    found = []
    if protect == "person":
        own: dict[str, Any] = {"epsilon_person": budget, "reads": "friends"}
        return [Candidate(kind(**own), "none", 0.0) for kind in _kinds("epsilon_person")]
    for kind, settings in _proposed(protect):
        budgets: dict[str, Any] = {"epsilon_features": None}
        if "," in protect:
            budgets |= _second(protect, budget)
        try:
            system = kind(**settings, **budgets)
            asks = system.release(_nobody(schema)).asks_about(Unit.FEATURES)
        except PrivetError:
            continue  # this system cannot do without them
        if not asks:
            found.append(Candidate(system, "none", 0.0))
    return found


def without(ranked: Sequence[Candidate], protect: str, budget: float) -> dict[str, list[Candidate]]:
    """Return, by what is not collected, controls that do without it, with the whole budget for the rest.

    Args:
        ranked: Ways that collect, the best first; each control is of the best one that has it.
        protect: One of :data:`PROTECTABLE`.
        budget: The total epsilon of a person.
    """
    if protect == "person":
        best, control = _with_control(ranked, FEATURES_ONLY.key)
        return {"features": [], "edges": [replace(best, control=control)]}
    base, _ = _with_control(ranked, STRUCTURE_ONLY.key)
    bare = replace(base.with_share(protect, budget, 0.0), mechanism="none")
    found = {"features": [replace(bare, control=each) for each in (STRUCTURE_ONLY, LABEL_PROPAGATION)]}
    if protect == "features,edges":
        best, control = _with_control(ranked, FEATURES_ONLY.key)
        budgets: dict[str, Any] = {"epsilon_features": budget, "epsilon_edges": None}
        if _asks_persons(best.system):
            budgets["epsilon_person"] = None
        found["edges"] = [Candidate(replace(best.system, **budgets), best.mechanism, 1.0, control)]
    return found


def _with_control(ranked: Sequence[Candidate], key: str) -> tuple[Candidate, Control]:
    """The first candidate that is compared with a control, and that control."""
    return next((each, control) for each in ranked for control in each.system.controls() if control.key == key)


def _proposed(protect: str) -> Iterator[tuple[type[LocalSystem], dict[str, Any]]]:
    """Local systems that protect what is asked, with each setting that their presets propose.

    One answer about everything on a device also protects features and a relationship, so it is proposed for both.
    """
    if protect in ("person", "features,edges"):
        both = (1, 2) if protect == "person" else (1,)
        yield from (
            (kind, {"epsilon_person": 1.0, "waves": waves}) for kind in _kinds("epsilon_person") for waves in both
        )
    if protect == "person":
        return
    for name, kind in SYSTEMS.items():
        field = kind.__dataclass_fields__.get("epsilon_edges")
        private = protect == "features,edges"
        if issubclass(kind, LocalSystem) and (field is not None if private else field is None or field.default is None):
            yield from ((kind, settings) for settings in advised(name))


def _kinds(field: str) -> Iterator[type[LocalSystem]]:
    """Local systems with a setting."""
    return (kind for kind in SYSTEMS.values() if issubclass(kind, LocalSystem) and field in kind.__dataclass_fields__)


def _asks_persons(system: LocalSystem) -> bool:
    return getattr(system, "epsilon_person", None) is not None


def _nobody(schema: Schema) -> Graph:
    """The least graph that a system can be asked about."""
    return Graph.from_edges(np.empty((2, 0), dtype=np.int64), 2, schema=schema)


def _split(system: LocalSystem, protect: str, budget: float, share: float) -> LocalSystem:
    """The system with a share of the budget for features and the rest for labels or edges.

    One answer about everything costs features and a relationship together what it costs the relationship, on which both
    of its ends answer.
    """
    if _asks_persons(system):
        changed: dict[str, Any] = {"epsilon_person": budget / 2 if protect == "features,edges" else budget}
        return replace(system, **changed)
    features = share * budget
    others = budget - features
    while Fraction(features) + Fraction(others) > Fraction(budget):  # composition rounds up, and so would exceed it
        others = math.nextafter(others, 0.0)
    own: dict[str, Any] = {"epsilon_features": features or budget}  # reports without information cost nothing
    if "," in protect:
        own |= _second(protect, others)
    return replace(system, **own)


def _second(protect: str, budget: float) -> dict[str, float]:
    """The setting that spends a budget on labels or edges: both ends of a relationship may report it."""
    part = protect.split(",")[1]
    return {f"epsilon_{part}": budget / 2 if part == "edges" else budget}
