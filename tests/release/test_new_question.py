"""A question from outside: its ask, its mechanism and a system on it live in this file, and nothing else knows them."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thorough import thorough

from privet.auditing import audit
from privet.data import Graph, social_graph, split_nodes
from privet.data.population import Population
from privet.errors import InvalidData, InvalidReports
from privet.mechanisms import AffineFeatures, Bits, Mechanism, Reports, SeededBits
from privet.mechanisms.core.base import Distribution
from privet.mechanisms.core.shapes import SymbolShape
from privet.mechanisms.primitives.odds import Odds, odds
from privet.privacy import Guarantee, Unit
from privet.release import ASKS, Ask, LocalRelease, PrivateData, Question
from privet.systems import Collected, Fitted, LocalSystem, UnsuitableRelease


@dataclass(frozen=True)
class MoreThan(Ask):
    """Do you have more than k neighbours?"""

    name = "more-than"
    unit = Unit.NEIGHBOUR_BIT
    part = "many neighbours"
    subject = "whether you have many neighbours"
    budget = "epsilon_answer"
    k: int = 3

    def apply(self, private: PrivateData, mechanism: Mechanism) -> Any:
        return (np.diff(private.neighbours.indptr) > self.k).astype(np.int64)

    def check(self, private: PrivateData, population: Population) -> None:
        if private.neighbours is None:
            raise InvalidData("answers", "with neighbours", "none")


@dataclass(frozen=True)
class Lookup(MoreThan):
    """Any public function of the list, as a table from lists to answers: what a dishonest operator may send."""

    name = "lookup"
    yes: frozenset[tuple[int, ...]] = frozenset()

    def apply(self, private: PrivateData, mechanism: Mechanism) -> Any:
        lists = np.split(private.neighbours.indices, private.neighbours.indptr[1:-1])
        return np.array([int(tuple(each.tolist()) in self.yes) for each in lists])


@dataclass(frozen=True, kw_only=True)
class YesNo(Mechanism):
    """Tell the true bit with probability e^epsilon / (1 + e^epsilon)."""

    name = "yes-no"
    epsilon: float

    @cached_property
    def odds(self) -> Odds:
        return odds(Fraction(self.epsilon))

    def perturb(self, values: Any, bits: Bits) -> Reports:
        lies = bits.below(self.odds.total, np.shape(values)) < self.odds.low
        return Reports(1, (np.asarray(values) ^ lies).astype(np.int8)[:, None])

    def estimate(self, reports: Reports) -> AffineFeatures:
        q = self.odds.low / self.odds.total
        return AffineFeatures(
            self.validate(reports).to_sparse(), np.array([1 / (1 - 2 * q)]), np.array([-q / (1 - 2 * q)])
        )

    def guarantee(self) -> Guarantee:
        return Guarantee.local(Unit.NEIGHBOUR_BIT, self.epsilon)

    def log_likelihood(self, reports: Reports, values: Any) -> Any:
        true = reports.symbols[:, 0] == np.asarray(values)
        return np.log(np.where(true, self.odds.high, self.odds.low) / self.odds.total)

    def variance(self, values: Any) -> Any:
        q = self.odds.low / self.odds.total
        return np.full((len(values), 1), q * (1 - q) / (1 - 2 * q) ** 2)

    def worst_values(self) -> Any:
        return np.zeros(3, dtype=np.int64)

    @property
    def span(self) -> float:
        return 1.0

    def exact_distribution(self, value: Any) -> Distribution:
        chance = {True: Fraction(self.odds.high, self.odds.total), False: Fraction(self.odds.low, self.odds.total)}
        return {bit: (chance[bit == int(value)],) * 2 for bit in (0, 1)}

    @property
    def num_reports(self) -> int:
        return 2

    def adjacent_pairs(self) -> Iterator[tuple[Any, Any]]:
        return iter([(0, 1), (1, 0)])

    def report_key(self, reports: Reports, row: int) -> Hashable:
        return int(reports.symbols[row, 0])

    @property
    def shape(self) -> SymbolShape:
        return SymbolShape(1, 1, np.dtype(np.int8))

    def possible(self, reports: Reports) -> Any:
        return np.isin(reports.symbols[:, 0], (0, 1))


@dataclass(frozen=True, kw_only=True)
class Busy(LocalSystem):
    """Class 1 is whoever said yes."""

    name = "busy"
    epsilon_answer: float = 3.0
    k: int = 5

    def feature_mechanism(self, population: Population) -> Mechanism:
        raise AssertionError("this system does not ask for features")

    def questions(self, population: Population) -> tuple[Question, ...]:
        return (Question(MoreThan(self.k), YesNo(epsilon=self.epsilon_answer)),)

    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        yes = collected.mechanism("more-than").estimate(collected.answers["more-than"].reports).dense()[:, 0]
        shares = np.stack([1 - yes, yes], axis=1).astype(np.float32)
        return Fitted(self.name, collected.guarantee(), shares, settings=self.settings())


@pytest.fixture
def graph() -> Graph:
    graph = social_graph(300, classes=2, average_degree=10, features=4, seed=0)
    schema = replace(graph.schema, private_edges=True)
    many = (graph.degrees > 5).astype(np.int64)
    return graph.replace(labels=many, schema=schema, split=split_nodes(graph, 0.5, 0.25, seed=0))


@pytest.fixture
def release(graph: Graph) -> LocalRelease:
    return Busy().release(graph)


def test_devices_answer_and_the_server_reads(graph: Graph, release: LocalRelease) -> None:
    answers = release.perturb(PrivateData.of(graph), SeededBits(0))
    bodies = release.wire.pack(answers)
    assert {len(body) for body in bodies} == {1}
    again = release.wire.unpack(range(300), bodies)
    assert again["more-than"].reports == answers["more-than"].reports
    assert release.wire.to_json(bodies[0]) in ({"more-than": 0}, {"more-than": 1})
    assert release.wire.from_json({"more-than": 1}) == b"\x01"
    with pytest.raises(InvalidReports, match="cannot have sent"):
        release.wire.unpack([0], [b"\x02"])


def test_promise_cost_and_words_follow_from_the_question(release: LocalRelease) -> None:
    promise = release.guarantee()
    assert promise.unit == Unit.RELATIONSHIP
    assert promise.epsilon == promise.relationship_epsilon == 6.0  # nothing keeps the other end from answering
    assert "who is linked" not in " ".join(promise.unprotected)
    (line,) = release.lines()
    assert (line.part, line.mechanism, line.epsilon) == ("many neighbours", "yes-no", 6.0)
    assert release.questions[0].sends().startswith("whether you have many neighbours: ")


def test_the_functions_parameters_are_part_of_the_release(graph: Graph, release: LocalRelease) -> None:
    assert release.to_list() == [{"ask": "more-than", "k": 5, "mechanism": "yes-no", "epsilon": 3.0}]
    assert release.matches(Busy().release(graph))
    assert not release.matches(Busy(k=4).release(graph))
    assert not release.matches(Busy(epsilon_answer=2.0).release(graph))
    assert Busy.from_release(Busy(k=4).release(graph), seed=1) == Busy(k=4, seed=1)
    assert Busy.learns_from(release)
    other = LocalRelease((Question(Lookup(), YesNo(epsilon=3.0)),), release.population)
    with pytest.raises(UnsuitableRelease, match=r"busy cannot learn .* lookup \(yes-no\)"):
        Busy.from_release(other)


def test_a_manifest_finds_them_once_they_are_registered(
    graph: Graph, release: LocalRelease, monkeypatch: pytest.MonkeyPatch
) -> None:
    from privet.mechanisms import MECHANISMS

    for registry, plugin in ((ASKS, MoreThan), (MECHANISMS, YesNo)):
        monkeypatch.setattr(registry, "_places", {**registry._places, plugin.name: "here"})
        monkeypatch.setitem(registry._loaded, plugin.name, plugin)
    assert LocalRelease.from_list(release.to_list(), release.population) == release


def test_a_system_collects_and_learns(graph: Graph) -> None:
    system = Busy(seed=0)
    collected = system.collect(graph)
    assert collected.public.adjacency.nnz == 0
    fitted = system.fit(collected)
    assert fitted.guarantee == system.guarantee(graph)
    assert fitted.score(graph.labels, graph.split.test) > 0.9
    graph.features.data[:] = np.nan
    graph.adjacency.indices[:] = 0
    graph.labels[:] = 10**6
    assert np.array_equal(system.fit(collected).predict_proba(), fitted.predict_proba())


NODES = 4
LISTS = [each for size in range(NODES) for each in itertools.combinations(range(1, NODES), size)]
"""The lists that node 0 can have."""
NEIGHBOURING = [(a, b) for a in LISTS for b in LISTS if len(set(a) ^ set(b)) == 1]


def answer(ask: Ask, mechanism: Mechanism, neighbours: tuple[int, ...]) -> int:
    return int(ask.apply(PrivateData.one(0, NODES, None, None, list(neighbours)), mechanism)[0])


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_no_public_function_raises_epsilon(epsilon: float) -> None:
    """All 256 functions of the lists that node 0 can have, by exact arithmetic over all adjacent lists."""
    mechanism = YesNo(epsilon=epsilon)
    tight = 0
    for size in range(len(LISTS) + 1):
        for yes in itertools.combinations(LISTS, size):
            question = Question(Lookup(yes=frozenset(yes)), mechanism)
            seen = {each: answer(question.ask, mechanism, each) for each in LISTS}
            pairs = {(seen[a], seen[b]) for a, b in NEIGHBOURING}
            result = audit(mechanism, mechanism.guarantee(), pairs, draws=0)  # all functions: one program
            assert result.holds
            assert result.claim == epsilon
            tight += result.epsilon > 0.999 * epsilon
    assert tight == 254  # every function but the two constants spends the budget, and none spends more


def test_the_enumeration_would_find_an_overspent_answer() -> None:
    mechanism = YesNo(epsilon=1.01)
    claim = replace(mechanism.guarantee(), epsilon=1.0)
    ask = MoreThan(1)
    pairs = {(answer(ask, mechanism, a), answer(ask, mechanism, b)) for a, b in NEIGHBOURING}
    assert not audit(mechanism, claim, pairs, draws=0).holds


@thorough
@given(k=st.integers() | st.floats())
def test_no_threshold_does_either(k: float) -> None:
    ask, mechanism = MoreThan(k), YesNo(epsilon=1.0)  # type: ignore[arg-type]
    pairs = {(answer(ask, mechanism, a), answer(ask, mechanism, b)) for a, b in NEIGHBOURING}
    assert audit(mechanism, mechanism.guarantee(), pairs, draws=0).holds
