"""Many systems on many datasets at equal true epsilon: who is right how often, beside what needs no private data.

Systems are compared within a unit of privacy only: an epsilon for a feature vector, for a relationship and for a whole
person are different promises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import privet
from privet.data import Graph
from privet.errors import InvalidData, InvalidParameter, PrivetError
from privet.evaluation.cache import Store
from privet.evaluation.ceiling import CEILING
from privet.evaluation.documents import Document, demand
from privet.evaluation.evaluate import evaluate
from privet.evaluation.results import Result
from privet.privacy.rounding import at_most
from privet.systems import SYSTEMS, CentralSystem, System
from privet.systems.controls import LABEL_PROPAGATION, MAJORITY, STRUCTURE
from privet.systems.presets import competing, prepared, system_for

__all__ = ["BESIDE", "Contender", "Entry", "Leaderboard", "contenders", "measure_leaderboard"]

BESIDE = (STRUCTURE.key, LABEL_PROPAGATION.key, MAJORITY.key, CEILING.key)
"""The keys of what is measured beside every system: it depends on the data alone, and is measured once."""


@dataclass(frozen=True)
class Contender:
    """A way to take part.

    Attributes:
        label: Its name in tables.
        system: The system's name.
        budgets: The part of a true epsilon that each budget gets: a list bit has half of a relationship's.
        settings: Further settings.
    """

    label: str
    system: str
    budgets: Mapping[str, float]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def built(self, dataset: str, epsilon: float) -> System:
        """Return the system for a dataset, with its preset, at a true epsilon."""
        budgets = {name: share * epsilon for name, share in self.budgets.items()}
        return system_for(self.system, dataset, {**self.settings, **budgets})


def contenders(names: Sequence[str] = ()) -> tuple[Contender, ...]:
    """Return the ways in which systems take part, installed plug-ins among them.

    Args:
        names: Systems' names (default: all of them).
    """
    chosen = [SYSTEMS.find(name) for name in names] or list(SYSTEMS.values())
    return tuple(each for kind in chosen for each in _ways(kind))


def _ways(kind: type[System]) -> Iterator[Contender]:
    stated = competing(kind.name)
    if stated is None:
        budget = "target_epsilon" if issubclass(kind, CentralSystem) else "epsilon_features"
        stated = ({"budgets": {budget: 1.0}},) if budget in {each.name for each in fields(kind)} else ()
    for way in stated:
        rest = {name: value for name, value in way.items() if name not in ("label", "budgets")}
        yield Contender(way.get("label", kind.name), kind.name, way["budgets"], rest)


@dataclass(frozen=True)
class Entry:
    """One contender on one dataset at one epsilon.

    Attributes:
        label: The contender.
        dataset: The data's name.
        epsilon: The epsilon that was asked for.
        result: The measurement; None where the contender cannot take part.
        refusal: The reason then, in a sentence.
    """

    label: str
    dataset: str
    epsilon: float
    result: Result | None
    refusal: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        own = {name: getattr(self, name) for name in ("label", "dataset", "epsilon", "refusal")}
        return {**own, "result": None if self.result is None else self.result.to_dict()}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], where: str) -> Entry:
        """Read what :meth:`to_dict` made."""
        result = None if document["result"] is None else Result.from_dict(document["result"], where)
        return cls(document["label"], document["dataset"], document["epsilon"], result, document["refusal"])

    @classmethod
    def of(cls, result: Result) -> Entry:
        """Return a result that was measured elsewhere as an entry."""
        return cls(result.system, result.dataset, result.guarantee.epsilon, result)


@dataclass(frozen=True, repr=False)
class Leaderboard(Document):
    """Entries of systems on datasets.

    Attributes:
        entries: The entries.
        version: The version of privet.
    """

    entries: tuple[Entry, ...]
    version: str = privet.__version__

    def added(self, results: Sequence[Result]) -> Leaderboard:
        """Return the leaderboard with results of others."""
        return replace(self, entries=(*self.entries, *map(Entry.of, results)))

    @property
    def measured(self) -> tuple[Entry, ...]:
        """The entries with a result."""
        return tuple(each for each in self.entries if each.result is not None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {"leaderboard": [each.to_dict() for each in self.entries], "version": self.version}

    @classmethod
    def from_dict(cls, document: Any, where: str = "leaderboard") -> Leaderboard:
        """Read what :meth:`to_dict` made."""
        found = demand(document, ("leaderboard", "version"), where, "a leaderboard")
        try:
            entries = tuple(Entry.from_dict(each, where) for each in found["leaderboard"])
        except (KeyError, TypeError):
            raise InvalidData(f"The entries of {where} cannot be read. Measure the leaderboard again.") from None
        return cls(entries, found["version"])

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each entry and figure; a contender that cannot take part has one without a mean."""
        return [row for entry in self.entries for row in _rows(entry)]

    def __repr__(self) -> str:
        datasets = len({each.dataset for each in self.entries})
        return f"Leaderboard({len(self.measured)} figures on {datasets} datasets)"


def _rows(entry: Entry) -> Iterator[dict[str, Any]]:
    result = entry.result
    promise = None if result is None else result.guarantee
    shared = {
        "dataset": entry.dataset,
        "contender": entry.label,
        "unit": "" if promise is None else str(promise.unit),
        "model": "" if promise is None else promise.model,
        "epsilon": entry.epsilon if promise is None else promise.epsilon,
        "delta": None if promise is None else promise.delta,
        "metric": "" if result is None else result.metric,
    }
    if result is None:
        yield {**shared, "figure": "system", "mean": None, "std": None, "seeds": 0, "remark": entry.refusal}
        return
    for name, figures in {"system": result.figures, **result.controls}.items():
        own = {"mean": figures.mean, "std": figures.std, "seeds": len(figures.values)}
        yield {**shared, "figure": name, **own, "remark": result.verdict if name == "system" else ""}


def _check_true(system: System, graph: Graph, epsilon: float) -> None:
    """Refuse to compare a system at an epsilon below its true one, such as one whose other budgets are not stated."""
    promise = system.guarantee(graph)
    if promise is None:
        raise InvalidParameter("It adds no noise and promises nothing, so there is no epsilon to compare it at.")
    spent = promise.epsilon
    if spent > epsilon * (1 + 1e-9):
        raise InvalidParameter(
            f"With these budgets its true epsilon is {at_most(spent)}. State what part of {epsilon:g} each budget gets."
        )


def measure_leaderboard(
    graphs: Mapping[str, Graph],
    taking_part: Sequence[Contender],
    epsilons: Sequence[float],
    seeds: int = 3,
    *,
    store: Store | None = None,
    workers: int = 1,
    progress: Callable[[str], None] = lambda text: None,
) -> Leaderboard:
    """Measure every contender on every dataset at every epsilon; finished figures are kept, so it can go on later.

    Whoever cannot take part, such as RGNN where features have no categories, is named with the reason.

    Args:
        graphs: The graphs by name; a known name brings its presets.
        taking_part: The contenders.
        epsilons: The true epsilons, of whatever unit a contender protects.
        seeds: The number of seeds.
        store: The finished figures (default: the usual store).
        workers: The number of processes for one evaluation.
        progress: Called with a few words before each entry.
    """
    if not taking_part or not epsilons or not all(epsilon > 0 for epsilon in epsilons):
        raise InvalidParameter("A leaderboard needs contenders, and epsilons above 0.")

    def entry(contender: Contender, dataset: str, graph: Graph, epsilon: float) -> Entry:
        progress(f"{contender.label} on {dataset}, epsilon {epsilon:g}")
        try:
            system = contender.built(dataset, epsilon)
            beside = [each for each in (*system.controls(), CEILING) if each.key in BESIDE]
            ready = prepared(graph, contender.system, dataset)
            _check_true(system, ready, epsilon)
            result = evaluate(system, ready, seeds, controls=beside, dataset=dataset, store=store, workers=workers)
        except PrivetError as error:
            return Entry(contender.label, dataset, epsilon, None, str(error))
        return Entry(contender.label, dataset, epsilon, result)

    return Leaderboard(
        tuple(
            entry(contender, dataset, graph, epsilon)
            for dataset, graph in graphs.items()
            for contender in taking_part
            for epsilon in sorted(set(epsilons))
        )
    )
