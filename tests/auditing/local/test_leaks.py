"""Collections that tell the server more than reports do, each of which playing must see."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from privet.auditing.local.leaks import find_leaks
from privet.data import Graph, social_graph, split_nodes
from privet.data.population import Population
from privet.errors import PrivetError
from privet.mechanisms import Bits, MultiBit, Reports, SeededBits
from privet.release import Answer
from privet.systems import SYSTEMS, Collected, Fitted, Inquiry, LocalSystem

LOCAL = {name: kind for name, kind in SYSTEMS.items() if issubclass(kind, LocalSystem) and name != "rgnn"}


@dataclass(frozen=True, kw_only=True)
class Sound(LocalSystem):
    """Asks for features."""

    name = "sound"

    def feature_mechanism(self, population: Population) -> MultiBit:
        return MultiBit.declare(population, epsilon=self.epsilon_features)

    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        raise NotImplementedError


def keeping(what: Any) -> type[Sound]:
    """Return a system whose collection adds something made from the graph."""

    @dataclass(frozen=True, kw_only=True)
    class Keeping(Sound):
        name = "keeping"

        def collect(self, graph: Graph, bits: Bits | None = None, **options: Any) -> Collected:
            collected = super().collect(graph, bits, **options)
            object.__setattr__(collected, "kept", what(graph))
            return collected

    return Keeping


@dataclass(frozen=True, kw_only=True)
class Forging(Sound):
    """Sends signs of the features where reports should be."""

    def collect(self, graph: Graph, bits: Bits | None = None, **options: Any) -> Collected:
        collected = super().collect(graph, bits, **options)
        answer = collected.answers["features"]
        reports = answer.reports
        true = np.take_along_axis(graph.features, reports.coordinates.astype(np.int64), axis=1) > 0.5
        forged = Reports(reports.dimension, np.where(true, 1, -1).astype(reports.symbols.dtype), reports.indices)
        answers = collected.answers.with_part("features", Answer(answer.users, forged))
        return replace(collected, answers=answers)


@dataclass(frozen=True, kw_only=True)
class Twice(Sound):
    """Draws every report twice and shows only one of them."""

    def collect(self, graph: Graph, bits: Bits | None = None, **options: Any) -> Collected:
        super().collect(graph, bits, **options)
        return super().collect(graph, bits, **options)


@dataclass(frozen=True, kw_only=True)
class PublicCoins(Sound):
    """Draws everybody's reports from a seed that was left in the program."""

    def collect(self, graph: Graph, bits: Bits | None = None, **options: Any) -> Collected:
        return super().collect(graph, SeededBits(7), **options)


@dataclass(frozen=True, kw_only=True)
class Averaging(Sound):
    """Lets everybody report their neighbours' mean, so that one person's data are in many reports."""

    def collect(self, graph: Graph, bits: Bits | None = None, **options: Any) -> Collected:
        degrees = np.maximum(graph.degrees, 1)[:, None]
        smoothed = graph.adjacency @ graph.features / degrees
        return super().collect(graph.replace(features=smoothed), bits, **options)


@dataclass(frozen=True, kw_only=True)
class Choosy(Sound):
    """Asks only people whose first feature is large."""

    def check(self, graph: Graph) -> None:
        self.__dict__["seen"] = graph

    def invited(self, question: Any, collected: Any) -> Any:
        return np.flatnonzero(self.__dict__["seen"].features[:, 0] > 0.5)


@dataclass(frozen=True, kw_only=True)
class Remembering(MultiBit):
    """Keeps what it randomised."""

    def perturb(self, values: Any, bits: Bits) -> Reports:
        self.__dict__["last"] = values
        return super().perturb(values, bits)


@dataclass(frozen=True, kw_only=True)
class Remembered(Sound):
    """Asks with a mechanism that remembers."""

    def feature_mechanism(self, population: Population) -> MultiBit:
        return Remembering.declare(population, epsilon=self.epsilon_features)


@pytest.fixture
def graph() -> Graph:
    graph = social_graph(240, classes=3, features=4, average_degree=6, seed=0)
    dense = graph.features.toarray()
    return graph.replace(features=dense, split=split_nodes(graph, 0.5, 0.25, seed=0))


@pytest.mark.parametrize("labels", [None, 1.0], ids=["public", "private"])
@pytest.mark.parametrize("kind", LOCAL.values(), ids=LOCAL)
def test_systems_of_privet_tell_the_server_nothing_else(kind: Any, labels: float | None, graph: Graph) -> None:
    try:
        system = kind(epsilon_labels=labels)
    except PrivetError:
        pytest.skip("its labels are public")
    found = find_leaks(system, graph)
    assert found.holds, found.problem
    assert found.worlds >= 6


def test_private_friend_lists_are_other_ones_in_each_world(graph: Graph) -> None:
    assert find_leaks(SYSTEMS["solitude"](epsilon_edges=1.0), graph).holds
    assert find_leaks(Inquiry(epsilon_edges=1.0, epsilon_features=1.0), graph).holds


@pytest.mark.parametrize(
    ("what", "where"),
    [
        (lambda graph: graph.features, r"collected\.kept differs .* holds feature \d of person \d+, 0\.\d+"),
        (lambda graph: graph.features[:, :1].copy(), r"collected\.kept differs .* holds feature 0 of person"),
        (lambda graph: {"a": [sp.csr_array(graph.features)]}, r"collected\.kept\['a'\]\[0\]\.\w+ differs"),
        (lambda graph: graph.features.tobytes(), r"collected\.kept differs"),
        (lambda graph: bytearray(graph.features.tobytes()), r"collected\.kept\(\) differs"),
        (lambda graph: lambda: graph.features, r"collected\.kept\.closure\[0\]\.\w+ differs"),
        (lambda graph: partial(np.sum, graph.features), r"collected\.kept\.args\[0\] differs"),
        (lambda graph: iter([graph.features]), "differs"),
        (lambda graph: np.zeros(9, dtype=np.float32) + graph.features[7, 2], "differs"),
        (lambda graph: float(graph.features.sum()), r"collected\.kept differs"),
        (lambda graph: graph.features[:0], r"collected\.kept\.base differs"),
        (lambda graph: graph.labels, r"collected\.kept differs"),
        (lambda graph: graph.labels[graph.split.test] == 1, r"collected\.kept differs"),
    ],
)
def test_what_comes_past_the_reports_is_found(graph: Graph, what: Any, where: str) -> None:
    found = find_leaks(keeping(what)(), graph)
    assert "The server of keeping receives private data past the reports" in found.problem
    assert re.search(where, found.problem), found.problem


def test_public_data_may_be_kept(graph: Graph) -> None:
    assert find_leaks(keeping(lambda graph: (graph.adjacency.copy(), graph.split, graph.num_nodes))(), graph).holds


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (Forging, r"collected\.answers\.parts\['features'\]\.reports\.symbols differs"),
        (Twice, "480 reports of multi-bit were drawn, and its release states 240"),
        (Averaging, r"the feature vector of person \d+ changes what \d+ people randomise"),
        (PublicCoins, "sound draws reports from other random bits than it was given"),
        (Choosy, "Whom sound asks what depends on private data"),
        (Remembered, r"mechanism\.last differs"),
    ],
)
def test_other_ways_around_the_mechanism_are_found(graph: Graph, kind: Any, sentence: str) -> None:
    assert re.search(sentence, find_leaks(kind(), graph).problem)


def test_showing_data_must_be_disclosed(graph: Graph) -> None:
    @dataclass(frozen=True, eq=False)
    class Everybody(Collected):
        @property
        def showing(self) -> Any:
            return np.arange(self.num_nodes)

    @dataclass(frozen=True, kw_only=True)
    class Exempt(Sound):
        def collect(self, graph: Graph, bits: Bits | None = None, **options: Any) -> Collected:
            collected = super().collect(graph, bits, **options)
            return Everybody(collected.public, collected.answers)

    assert "240 people show their data" in find_leaks(Exempt(), graph).problem


def test_a_system_with_an_aggregator_is_not_checked(graph: Graph) -> None:
    for settings in ({"class_sums": 1.0}, {"server_sums": 1.0}):
        with pytest.raises(PrivetError, match="sums over raw data"):
            find_leaks(Inquiry(**settings), graph)


def test_mechanisms_are_as_before_after_a_collection_that_fails(graph: Graph) -> None:
    def fail(graph: Graph) -> Any:
        raise ZeroDivisionError

    before = MultiBit.perturb
    with pytest.raises(ZeroDivisionError):
        find_leaks(keeping(fail)(), graph)
    assert MultiBit.perturb is before
    mechanism = MultiBit(epsilon=1.0, dimension=2, low=0.0, high=1.0)
    assert len(mechanism.perturb(np.zeros((3, 2)), SeededBits(0))) == 3
