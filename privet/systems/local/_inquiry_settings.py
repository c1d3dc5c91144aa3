"""Inquiry's settings, and everything that follows from them before anybody is asked: questions, promise, budget."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from privet.data.population import Population
from privet.errors import InvalidParameter
from privet.release import LocalRelease, Question
from privet.release.blobs import array_digest
from privet.release.inquiry import inquiry_questions
from privet.release.price import Aggregate
from privet.systems.base import LocalSystem
from privet.systems.local._inquiry_rounds import (
    class_sums_aggregate,
    class_sums_release,
)

__all__ = ["InquirySettings"]

_SOURCES = ("panel", "pilot", "class_sums", "scorer")
_PANEL = 0.1  # the share of people in a panel where no other source of a scorer is named


@dataclass(frozen=True, kw_only=True)
class InquirySettings(LocalSystem):
    """The settings of :class:`~privet.systems.local.inquiry.Inquiry`, where they are described."""

    epsilon_features: float | None = None  # type: ignore[assignment]
    epsilon_edges: float | None = None
    panel: Any = None
    pilot: float | None = None
    class_sums: float | None = None
    scorer: Any = None
    public_features: bool = False
    calibrators: float = 0.3
    everybody: bool = False
    cap: int = 32
    thorough: bool = False

    def __post_init__(self) -> None:
        if self.epsilon_features is None and self.epsilon_edges is None:
            object.__setattr__(self, "epsilon_features", 1.0)
        super().__post_init__()
        if self.public_features and (self.epsilon_features is not None or self.epsilon_edges is None):
            expected = "False, or with private lists and without epsilon_features"
            raise InvalidParameter("public_features", expected, True)
        named = [name for name in _SOURCES if getattr(self, name) is not None]
        if len(named) > 1:
            raise InvalidParameter(named[1], f"None beside {named[0]}: a scorer has one source", "another")
        if named and self.epsilon_features is None:
            raise InvalidParameter(named[0], "None where features are not asked about", "a source")
        if not named and self.epsilon_features is not None:
            object.__setattr__(self, "panel", _PANEL)
        self._check_shares()
        self._check_least(cap=1)

    def _check_shares(self) -> None:
        if self.panel is not None and not isinstance(self.panel, float | int):
            people = np.asarray(self.panel)
            ids = np.flatnonzero(people) if people.dtype == np.bool_ else people
            object.__setattr__(self, "panel", tuple(int(each) for each in ids))
        if self.class_sums is not None:
            self._check_positive("class_sums")
            if self.epsilon_labels is not None:
                expected = "None where labels are private: sums are made by true class"
                raise InvalidParameter("class_sums", expected, self.class_sums)
        for name in ("panel", "pilot"):
            value = getattr(self, name)
            if isinstance(value, float | int) and not 0 < value < 1:
                raise InvalidParameter(name, "a share of people between 0 and 1", value)
        if not 0 < self.calibrators <= 1:
            raise InvalidParameter("calibrators", "a share above 0, at most 1", self.calibrators)

    def questions(self, population: Population) -> tuple[Question, ...]:
        """Ask for the label where labels are private, then for the pilot's features, for friends, for resemblance."""
        return inquiry_questions(population, **{each.name: getattr(self, each.name) for each in fields(self)})

    def release(self, public: Any) -> LocalRelease:
        """Return everything that leaves the devices in all rounds, and what some people show besides."""
        population = Population.of(public)
        shown = ("the panel, who show their features and class",) if self.panel is not None else ()
        return LocalRelease(
            self.questions(population), population, self._disclosed(), self._aggregated(population), exempt=shown
        )

    def _aggregated(self, population: Population) -> tuple[Aggregate, ...]:
        if self.class_sums is None:
            return ()
        return (class_sums_aggregate(class_sums_release(self.class_sums, population.num_nodes)),)

    def _disclosed(self) -> tuple[str, ...]:
        shown = []
        if self.panel is not None:
            size = (
                f"{100 * self.panel:.3g} % of people"
                if isinstance(self.panel, float | int)
                else f"{len(self.panel)} people"
            )
            shown.append(f"the features and classes of the panel ({size}), who agreed to show them")
        if self.public_features:
            shown.append("everybody's features, which the operator knows")
        if self.epsilon_edges is not None:
            shown.append(
                "the classes of labelled people, as they are known or reported, and predicted classes of others, which "
                "every device is given"
            )
        return (
            *shown,
            "who is asked, which follows from public facts and from randomised answers, a person's own among them: "
            "their counts of friends, for example, can decide whether they are asked again",
        )

    def settings(self) -> dict[str, Any]:
        """Return the hyper-parameters as plain values; a given scorer is too large to be listed, and named instead."""
        plain = super().settings() | {"scorer": None if self.scorer is None else _named(self.scorer)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}

    @classmethod
    def decided_by(cls, release: LocalRelease) -> dict[str, Any]:
        """Return the release's budgets; features that are not asked about have none."""
        return {"epsilon_features": None, **super().decided_by(release)}


def _named(scorer: Any) -> str:
    """Return a name by which stored figures of different scorers are told apart: of a function, that of its code."""
    if callable(scorer):
        return f"function {getattr(scorer, '__module__', '')}.{getattr(scorer, '__qualname__', type(scorer).__name__)}"
    return array_digest(np.asarray(scorer))
