"""Typed results of attacks: the damage that growing shares of liars do, with and without defences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from privet.errors import InvalidData
from privet.evaluation.documents import Document, demand
from privet.evaluation.results import Figures, short_name

__all__ = ["METRICS", "Damage", "DamageCurve"]

METRICS = {
    "accuracy": "accuracy of honest test people (%)",
    "class": "recall of the attacked class among honest people (%)",
    "person": "seeds in which the attacked person keeps their prediction (%)",
    "frequency": "estimated mean (in ranges)",
}

_PARTS = ("honest", "attacked", "random", "defended_honest", "defended")
_EXPECTED = "a result of privet attack"


@dataclass(frozen=True)
class Damage:
    """Figures at one share of liars; all of them are about the same honest people.

    Attributes:
        share: The share of all people who lie.
        honest: The metric if nobody lies.
        attacked: The metric with liars.
        random: The metric if the same people send random reports; None if it was not measured.
        defended_honest: The metric if nobody lies and the system defends itself; None without defences.
        defended: The metric with liars and defences; None without defences.
    """

    share: float
    honest: Figures | None
    attacked: Figures | None
    random: Figures | None = None
    defended_honest: Figures | None = None
    defended: Figures | None = None

    @property
    def loss(self) -> float:
        """The mean loss to liars, in the unit of the metric."""
        return _mean(self.honest) - _mean(self.attacked)

    @property
    def cost(self) -> float | None:
        """The mean cost of the defences if nobody lies; None without defences."""
        return None if self.defended_honest is None else _mean(self.honest) - _mean(self.defended_honest)

    @property
    def regained(self) -> float | None:
        """The share of the loss that the defences give back; None without defences or without a loss."""
        if self.defended is None or self.loss <= 0:
            return None
        return (_mean(self.defended) - _mean(self.attacked)) / self.loss

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        figures = {name: getattr(self, name) for name in _PARTS}
        return {"share": self.share} | {name: each.to_dict() for name, each in figures.items() if each is not None}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Damage:
        """Read what :meth:`to_dict` made."""
        figures = {name: Figures.from_dict(document[name]) for name in _PARTS if name in document}
        return cls(float(document["share"]), **{"honest": None, "attacked": None, **figures})


@dataclass(frozen=True, repr=False, kw_only=True)
class DamageCurve(Document):
    """The damage to one system on one graph by growing shares of liars.

    Attributes:
        system: The system's name.
        dataset: The data's name.
        goal: The liars' goal.
        kind: The kind of lies.
        metric: The metric and its unit.
        plan: All settings of the liars.
        settings: The system's settings, without defences.
        seeds: The seeds of splits and simulations.
        defence: The defences that were measured.
        points: The figures at each share, ascending.
        version: The version of privet.
    """

    system: str
    dataset: str
    goal: str
    kind: str
    metric: str
    plan: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    seeds: tuple[int, ...] = (0,)
    defence: tuple[str, ...] = ()
    points: tuple[Damage, ...] = ()
    version: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "dataset", short_name(self.dataset))

    def __repr__(self) -> str:
        losses = ", ".join(f"{each.share:.0%}: {each.loss:.3g}" for each in self.points)
        return f"DamageCurve({self.system} on {self.dataset}, {self.kind} against {self.goal}; loss at {losses})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        plain = {
            name: getattr(self, name) for name in ("system", "dataset", "goal", "kind", "metric", "plan", "version")
        }
        lists = {"seeds": list(self.seeds), "defence": list(self.defence)}
        return {**plain, "settings": self.settings, **lists, "damage": [point.to_dict() for point in self.points]}

    @classmethod
    def from_dict(cls, document: Any, where: str = "document") -> DamageCurve:
        """Read what :meth:`to_dict` made."""
        names = ("system", "dataset", "goal", "kind", "metric", "plan", "version", "settings")
        found = demand(document, (*names, "seeds", "defence", "damage"), where, _EXPECTED)
        try:
            return cls(
                **{name: found[name] for name in names},
                seeds=tuple(found["seeds"]),
                defence=tuple(found["defence"]),
                points=tuple(Damage.from_dict(each) for each in found["damage"]),
            )
        except (TypeError, ValueError, KeyError, AttributeError):
            raise InvalidData(where, _EXPECTED, "another document") from None

    def rows(self) -> list[dict[str, Any]]:
        """Return one row a share."""
        return [
            {"share": point.share, **{name: _maybe(getattr(point, name)) for name in _PARTS}, "loss": point.loss}
            for point in self.points
        ]


def _mean(figures: Figures | None) -> float:
    if figures is None:
        raise InvalidData("figures of an attack", "with and without liars", "none")
    return figures.mean


def _maybe(figures: Figures | None) -> float | None:
    return None if figures is None else figures.mean
