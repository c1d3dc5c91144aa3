"""The question and the answer of advice: what an operator plans, and whether a gain is real and large enough."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import stats

from privet.advice.topology import Topology
from privet.advice.worlds import World
from privet.data import Schema
from privet.errors import InvalidData, InvalidParameter
from privet.evaluation.documents import Document, demand
from privet.evaluation.verdict import half_width

__all__ = ["Advice", "Gain", "Pooled", "StudyPlan", "Way", "answer", "compared", "pooled"]


@dataclass(frozen=True)
class StudyPlan:
    """The operator's knowledge and wishes: public facts and a budget.

    Attributes:
        topology: The graph, or one of the stated size.
        schema: The declared features and classes.
        budget: The total epsilon of a person.
        protect: What shares the budget: ``features``, ``features,labels``, ``features,edges`` or ``person``
            (everything on a device).
        seeds: The number of fresh draws of each world for the final comparison, at least 2.
        limit: The largest number of people that are simulated.
        worth: Points of accuracy below which a gain counts as none: data that is not collected needs no protection.
    """

    topology: Topology
    schema: Schema
    budget: float
    protect: str = "features,labels"
    seeds: int = 5
    limit: int = 1000
    worth: float = 1.0

    def __post_init__(self) -> None:
        requirements = [
            ("classes", self.schema.classes >= 2, "an integer of at least 2", self.schema.classes),
            ("features", self.schema.dimension >= 1, "at least 1", self.schema.dimension),
            ("seeds", self.seeds >= 2, "at least 2, to tell noise from gain", self.seeds),
            ("limit", self.limit >= 60, "at least 60", self.limit),
            ("worth", self.worth >= 0, "at least 0", self.worth),
        ]
        for name, fine, expected, found in requirements:
            if not fine:
                raise InvalidParameter(name, expected, found)


@dataclass(frozen=True)
class Way:
    """A way to spend the budget, and how good it was over all worlds.

    Attributes:
        system: What is trained, in words.
        mechanism: The mechanism of the features.
        sample: The number of features in a report, where that was chosen.
        epsilons: The budget of each part that is collected.
        hops: How far the system looks.
        mean: Its mean accuracy, in per cent.
        behind: How far it is behind the best, in points.
        margin: Half the width of the 95 % confidence interval of ``behind``.
        settings: The settings of the system.
    """

    system: str
    mechanism: str
    sample: int | None
    epsilons: Mapping[str, float]
    hops: str
    mean: float
    behind: float
    margin: float
    settings: Mapping[str, Any]

    @property
    def mechanism_words(self) -> str:
        """The mechanism of the features, and how many of them it samples where that was chosen."""
        return f"{self.mechanism} of {self.sample}" if self.sample else self.mechanism


@dataclass(frozen=True)
class Gain:
    """The gain of collecting in one world.

    Attributes:
        homophily: How much friends resemble each other: low, medium or high.
        signal: How much the features tell: weak, medium or strong.
        collected: Mean accuracy with the data, in per cent.
        without: Mean accuracy without them.
        gain: The mean paired difference, in points.
        margin: Half the width of its 95 % confidence interval.
        helps: Whether the gain is beyond noise and worth having.
        open: Whether a gain that is worth having cannot be excluded.
    """

    homophily: str
    signal: str
    collected: float
    without: float
    gain: float
    margin: float
    helps: bool
    open: bool


@dataclass(frozen=True)
class Pooled:
    """The mean gain over all worlds, in points, and half the width of its 95 % confidence interval."""

    gain: float
    margin: float


@dataclass(frozen=True, repr=False, kw_only=True)
class Advice(Document):
    """The findings of a simulation.

    Attributes:
        source: Where the topology is from.
        nodes: The number of people.
        edges: The number of edges.
        degree: The mean number of contacts.
        simulated_nodes: The number of people that were simulated.
        simulated_degree: Their mean number of contacts.
        features: The number of features.
        classes: The number of classes.
        protect: What shares the budget.
        budget: The total epsilon of a person.
        worth: Points of accuracy below which a gain counts as none.
        seeds: The number of fresh draws of each world.
        homophily: For each level the share of people who have their community's class, and of edges within a class.
        signal: For each level the share of features that a person's class decides.
        candidates: Every way that was tried, best first.
        recommended: The way to choose if the data are collected.
        without: By what is not collected, the best way to do without it.
        comparison: By the same, what collecting adds in each world.
        pooled: By the same, the mean gain over all worlds.
        collect: By the same, whether to collect: yes, no, depends or unclear.
        seconds: The time that it took.
        version: The version of privet.
        advice: The recommendation in words.
    """

    source: str
    nodes: int
    edges: int
    degree: float
    simulated_nodes: int
    simulated_degree: float
    features: int
    classes: int
    protect: str
    budget: float
    worth: float
    seeds: int
    homophily: Mapping[str, Mapping[str, float]]
    signal: Mapping[str, float]
    candidates: tuple[Way, ...]
    recommended: Way
    without: Mapping[str, Way]
    comparison: Mapping[str, tuple[Gain, ...]]
    pooled: Mapping[str, Pooled]
    collect: Mapping[str, str]
    seconds: float
    version: str
    advice: str = ""

    @property
    def chosen(self) -> Way:
        """The way that is advised: the one without features if they need not be collected."""
        return self.without["features"] if self.collect["features"] == "no" else self.recommended

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, document: Any, where: str = "advice") -> Advice:
        """Read what :meth:`to_dict` made."""
        found = demand(document, ("candidates", "recommended", "comparison"), where, "advice that privet gave")
        try:
            typed = {
                "candidates": tuple(Way(**way) for way in found["candidates"]),
                "recommended": Way(**found["recommended"]),
                "without": {part: Way(**way) for part, way in found["without"].items()},
                "comparison": {part: tuple(Gain(**row) for row in rows) for part, rows in found["comparison"].items()},
                "pooled": {part: Pooled(**value) for part, value in found["pooled"].items()},
            }
            return cls(**found | typed)  # type: ignore[operator]
        except (TypeError, KeyError, AttributeError):
            raise InvalidData(
                f"The {where} is no advice that privet gave, or a damaged one. Make it again with privet advise."
            ) from None

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each way that was tried."""
        return [
            {"system": way.system, "mechanism": way.mechanism_words, **dict(way.epsilons), "hops": way.hops,
             "mean": way.mean, "behind": way.behind, "margin": way.margin}
            for way in self.candidates
        ]  # fmt: skip

    def __repr__(self) -> str:
        decided = ", ".join(f"{part}: {answer}" for part, answer in self.collect.items())
        return f"Advice(collect {decided}; {self.recommended.system} with {self.recommended.mechanism_words})"


def compared(
    places: Sequence[World], best: list[list[float]], rival: list[list[float]], worth: float
) -> tuple[Gain, ...]:
    """Compare two ways in each world.

    Args:
        places: The worlds.
        best: For each world the accuracies of the way that collects, one a seed, in per cent.
        rival: The same of the way that does without.
        worth: Points below which a gain counts as none.
    """
    rows = []
    for world, ours, theirs in zip(places, best, rival, strict=True):
        gain = np.subtract(ours, theirs)
        mean, margin = float(gain.mean()), half_width(gain) or 0.0
        helps = bool(mean > margin and mean >= worth)
        unsettled = bool(mean + margin >= worth and not helps)
        means = float(np.mean(ours)), float(np.mean(theirs))
        rows.append(Gain(world.homophily, world.signal, *means, mean, margin, helps, unsettled))
    return tuple(rows)


def pooled(ours: list[list[float]], theirs: list[list[float]]) -> Pooled:
    """Return the mean gain over all worlds; the margin is of the worlds as they are, each with its own spread."""
    gains = np.subtract(ours, theirs)
    places, seeds = gains.shape
    error = math.sqrt(float(np.sum(gains.var(axis=1, ddof=1))) / seeds) / places
    return Pooled(float(gains.mean()), float(stats.t.ppf(0.975, places * (seeds - 1))) * error)


def answer(rows: Sequence[Gain], together: Pooled, worth: float) -> str:
    """Decide whether to collect.

    Returns:
        "yes" or "depends" where all or some worlds show a gain, "no" if all of them together exclude one, otherwise
        "unclear".

    >>> answer([], Pooled(-1.0, 0.5), 1.0)
    'no'
    """
    helped = sum(row.helps for row in rows)
    if helped:
        return "yes" if helped == len(rows) else "depends"
    return "no" if together.gain + together.margin < worth else "unclear"
