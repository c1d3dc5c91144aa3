"""Leaks of a collection: what the server receives may depend on private data by reports only.

The collection is simulated in several worlds. In the first world mechanisms draw reports, which are recorded. In
another world everybody has other private data, and mechanisms give the recorded reports, whatever they are asked. So
whatever the server holds, down to the last array, must be the same to the bit: a difference came past the mechanisms.
In further worlds one person has other data in one field, and only that person's own values may change, in questions
about that field.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.auditing.local.reachable import leaves
from privet.auditing.local.recorded_reports import DifferentCalls, Recording
from privet.data import Categories, Graph, Interval, Schema
from privet.errors import InvalidData
from privet.mechanisms import SeededBits
from privet.privacy import Unit
from privet.systems import Collected, LocalSystem

__all__ = ["LeakCheck", "find_leaks"]

_PEOPLE = 3  # of each field, whose data are changed alone
_OTHER_WORLDS = 2


@dataclass(frozen=True)
class LeakCheck:
    """The outcome of looking for leaks in a collection.

    Attributes:
        people: The number of people.
        worlds: The number of worlds.
        problem: A sentence that says what was seen; empty if nothing was.
    """

    people: int
    worlds: int
    problem: str = ""

    @property
    def holds(self) -> bool:
        """True if nothing but reports was seen to tell the server about private data."""
        return not self.problem

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {**asdict(self), "holds": self.holds}


def find_leaks(system: LocalSystem, graph: Graph, seed: int = 0) -> LeakCheck:
    """Simulate the collection of a system in worlds that differ in private data, and compare what the server receives.

    The people whom a release lets show their data (:attr:`~privet.systems.Collected.showing`) keep them in all worlds.

    Args:
        system: The system; its seed is replaced. One with sums over raw data is refused.
        graph: Topology, classes and split of the people; their private data are replaced.
        seed: The seed of all worlds (default 0).
    """
    if system.release(graph).aggregated:
        raise InvalidData(
            f"{system.name} has sums over raw data, by an aggregator or by two servers, so its collection cannot be "
            "checked for leaks."
        )
    worlds = _Worlds(replace(system, seed=seed), graph, np.random.default_rng(seed))
    problem = worlds.problem()
    return LeakCheck(graph.num_nodes, worlds.count, problem)


class _Worlds:
    """The worlds of one system."""

    def __init__(self, system: LocalSystem, graph: Graph, generator: np.random.Generator) -> None:
        graph.require("schema", owner="an audit of a collection")
        self.system, self.generator, self.count = system, generator, 0
        self.bits = SeededBits(0)
        nobody = np.zeros(graph.num_nodes, dtype=np.bool_)
        self.graph = self._redrawn(graph, ~nobody, [Unit.FEATURES])
        self.recording = Recording()
        with self.recording.running():
            self.collected = self._collect(self.graph)
        self.hidden = ~nobody
        self.hidden[self.collected.showing] = False

    def _collect(self, graph: Graph) -> Collected:
        self.count += 1
        return self.system.collect(graph, self.bits)

    def problem(self) -> str:
        """Return a sentence about the first thing that is wrong."""
        return self._undeclared() or self._received() or self._mixed()

    def _undeclared(self) -> str:
        """Compare the reports that were drawn with those that the release states."""
        name, collected = self.system.name, self.collected
        if len(collected.showing) and not collected.release.disclosed:
            return f"{len(collected.showing):,} people show their data to {name}, and its release does not say so."
        if any(call.bits is not self.bits for call in self.recording.calls):
            return f"{name} draws reports from other random bits than it was given: who knows those knows the truth."
        stated: Counter[Any] = Counter()
        for question in collected.release.questions:
            stated[question.mechanism] += len(collected.answers[question.name])
        drawn: Counter[Any] = Counter()
        for call in self.recording.calls:
            drawn[call.mechanism] += len(call.values)
        for mechanism in drawn | stated:
            if drawn[mechanism] != stated[mechanism]:
                found = f"{drawn[mechanism]:,} reports of {mechanism.name} were drawn"
                return f"In the collection of {name} {found}, and its release states {stated[mechanism]:,}."
        return ""

    def _received(self) -> str:
        """Compare what the server holds in worlds with other data and the same reports."""
        before = leaves(self.collected, "collected")
        for _ in range(_OTHER_WORLDS):
            other = self._redrawn(self.graph, self.hidden, list(Unit))
            try:
                with Recording(self.recording).running():
                    after = leaves(self._collect(other), "collected")
            except DifferentCalls:
                return f"Whom {self.system.name} asks what depends on private data."
            for path in dict.fromkeys([*before, *after]):
                if path not in before or path not in after or not _same(before[path], after[path]):
                    found = f"{path} differs when people have other private data and send the same reports"
                    wrong = f"The server of {self.system.name} receives private data past the reports"
                    return f"{wrong}: {found}{self._raw(before.get(path))}."
        return ""

    def _mixed(self) -> str:
        """Change one field of one person: only their own values may change, in questions about that field."""
        release = self.collected.release
        for unit in (Unit.FEATURES, Unit.LABEL, Unit.NEIGHBOUR_BIT):
            about = {question.mechanism for question in release.questions if question.ask.unit.covers(unit)}
            for person in self.generator.permutation(np.flatnonzero(self.hidden))[:_PEOPLE]:
                alone = np.arange(self.graph.num_nodes) == person
                recording, other = Recording(self.recording), self._redrawn(self.graph, alone, [unit])
                with recording.running():
                    self._collect(other)
                for before, after in zip(self.recording.calls, recording.calls, strict=True):
                    changed = int((before.values != after.values).reshape(len(after.values), -1).any(axis=1).sum())
                    most = (2 if unit is Unit.NEIGHBOUR_BIT else 1) if before.mechanism in about else 0
                    if changed > most:
                        says = f"changes what {changed} people randomise with {before.mechanism.name}"
                        allowed = "only their own may change" if most else f"which is not asked about the {unit}"
                        return (
                            f"In the collection of {self.system.name} the {unit} of person {person} {says}, {allowed}."
                        )
        return ""

    def _redrawn(self, graph: Graph, people: NDArray[np.bool_], units: list[Unit]) -> Graph:
        """Give some people other private data, of which the release says that the server does not know them."""
        schema, release, changed = graph.schema, self.system.release(graph), {}
        assert schema is not None
        if Unit.FEATURES in units and graph.features is not None:
            dense = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
            changed["features"] = np.where(people[:, None], _features(schema, len(people), self.generator), dense)
        if Unit.LABEL in units and graph.labels is not None and schema.classes > 1:
            known = np.zeros(len(people), dtype=np.bool_) if graph.split is None else ~graph.split.test
            private = people & (graph.labels >= 0) & (release.asks_about(Unit.LABEL) | ~known)
            moved = (graph.labels + self.generator.integers(1, schema.classes, size=len(people))) % schema.classes
            changed["labels"] = np.where(private, moved, graph.labels)
        if Unit.NEIGHBOUR_BIT in units and release.asks_about(Unit.NEIGHBOUR_BIT):
            changed["adjacency"] = _flipped(graph, people, self.generator)
        return graph.replace(**changed)

    def _raw(self, value: Any) -> str:
        """Name a person whose unusual features stand in an array."""
        features = self.graph.features
        if not isinstance(value, np.ndarray) or features is None or not np.issubdtype(value.dtype, np.floating):
            return ""
        dense = features if isinstance(features, np.ndarray) else features.toarray()
        unusual = self.hidden[:, None] & (dense != np.round(dense, 3)) & np.isin(dense, value.astype(np.float32))
        if not unusual.any():
            return ""
        person, column = np.argwhere(unusual)[0]
        return f", and it holds feature {column} of person {person}, {dense[person, column]:.7g}"


def _features(schema: Schema, people: int, generator: np.random.Generator) -> NDArray[np.float32]:
    """Draw features within their domains: ends, the middle, and unusual numbers between them."""
    columns = []
    for domain in schema.features:
        if not isinstance(domain, Interval):
            codes = domain.count if isinstance(domain, Categories) else 1 << domain.count
            columns.append(generator.integers(codes, size=people).astype(np.float64))
            continue
        between = generator.uniform(domain.low, domain.high, size=people)
        usual = generator.choice([domain.low, (domain.low + domain.high) / 2, domain.high], size=people)
        columns.append(np.where(generator.random(people) < 0.6, between, usual))
    return np.stack(columns, axis=1).astype(np.float32)


def _flipped(graph: Graph, people: NDArray[np.bool_], generator: np.random.Generator) -> sp.csr_array:
    """Exchange friendships between some people and others: one for a single person, else about half of all."""
    size, dense = graph.num_nodes, graph.adjacency.toarray() > 0
    if people.sum() == 1:
        person = int(np.argmax(people))
        pairs = np.zeros((size, size), dtype=np.bool_)
        pairs[person, generator.choice(np.delete(np.arange(size), person))] = True
    else:
        pairs = np.triu(generator.random((size, size)) < 0.1, 1) & people[:, None] & people
    pairs |= pairs.T
    return sp.csr_array((dense ^ pairs).astype(np.float32))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    return type(one) is type(other) and bool(one == other or (one != one and other != other))
