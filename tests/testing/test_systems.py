"""Systems that are wrong on purpose, each of which one check must refuse."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from privet.data import Graph, social_graph, split_nodes
from privet.data.population import Population
from privet.mechanisms import Bits, MultiBit, SeededBits
from privet.systems import Collected, Fitted, LocalSystem
from privet.testing import check_local_system
from privet.testing.systems import check_test_labels


@dataclass(frozen=True, kw_only=True)
class Centres(LocalSystem):
    """The class whose training nodes report alike."""

    name = "centres"

    def feature_mechanism(self, population: Population) -> MultiBit:
        return MultiBit.declare(population, epsilon=self.epsilon_features)

    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        found, labels = collected.estimate().dense(), collected.seen_labels()
        classes = range(collected.schema.classes)
        centres = np.stack([found[collected.train & (labels == c)].mean(axis=0) for c in classes])
        scores = -((found[:, None, :] - centres) ** 2).sum(axis=2)
        return Fitted(self.name, collected.guarantee(), scores.astype(np.float32), settings=self.settings())


KEPT: dict[str, Any] = {}


@dataclass(frozen=True, kw_only=True)
class Hoarder(Centres):
    """Keeps the raw features behind the server's back."""

    def collect(self, graph: Graph, bits: Bits | None = None) -> Collected:
        KEPT["features"] = graph.features
        return super().collect(graph, bits)

    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        fitted = super().fit(collected)
        raw = np.asarray(KEPT["features"].sum(axis=1)).ravel()
        return replace(fitted, probabilities=fitted.probabilities + raw[:, None].astype(np.float32))


@dataclass(frozen=True, kw_only=True)
class Peeking(Centres):
    """Hands the labels of test nodes to the server."""

    def collect(self, graph: Graph, bits: Bits | None = None) -> Collected:
        collected = super().collect(graph, bits)
        return replace(collected, public=collected.public.replace(labels=graph.labels.copy()))

    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        fitted = super().fit(collected)
        return replace(fitted, probabilities=np.eye(3, dtype=np.float32)[collected.seen_labels()])


@dataclass(frozen=True, kw_only=True)
class Boasting(Centres):
    """Promises less than it spends."""

    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        fitted = super().fit(collected)
        return replace(fitted, guarantee=replace(fitted.guarantee, epsilon=0.1))


@dataclass(frozen=True, kw_only=True)
class Forgetful(Centres):
    """Ignores its seed."""

    def collect(self, graph: Graph, bits: Bits | None = None) -> Collected:
        return super().collect(graph, SeededBits(np.random.SeedSequence().entropy % 2**32) if bits is None else bits)


@dataclass(frozen=True, kw_only=True)
class Stubborn(Centres):
    """Asks with a budget of its own, whatever a release says."""

    def feature_mechanism(self, population: Population) -> MultiBit:
        return MultiBit.declare(population, epsilon=self.epsilon_features / 2)


@pytest.fixture
def graph() -> Graph:
    graph = social_graph(90, classes=3, features=6, seed=0)
    return graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))


@pytest.mark.parametrize("epsilon_labels", [None, 2.0])
def test_an_honest_system_passes_and_its_graph_stays_as_it_was(graph: Graph, epsilon_labels: float | None) -> None:
    kept = graph.features.copy()
    check_local_system(Centres(epsilon_features=4.0, epsilon_labels=epsilon_labels), graph)
    assert (graph.features != kept).nnz == 0
    assert graph.labels.max() == 2


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (Hoarder, "reads private fields after they were collected"),
        (Peeking, "reads private fields that it does not ask for"),
        (Boasting, "the promise of centres of its result"),
        (Forgetful, "collects other answers with the same seed"),
    ],
)
def test_a_broken_system_is_refused(graph: Graph, broken: type[Centres], sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        check_local_system(broken(epsilon_features=4.0), graph)


def test_a_system_that_is_not_what_its_release_says_is_refused(graph: Graph) -> None:
    with pytest.raises(Exception, match="centres cannot learn from a study that asks for features"):
        check_local_system(Stubborn(epsilon_features=4.0), graph)


def test_a_system_that_reads_labels_of_test_nodes_is_refused_by_their_own_check_too(graph: Graph) -> None:
    with pytest.raises(AssertionError, match="depends on the labels of test nodes"):
        check_test_labels(Peeking(epsilon_features=4.0), graph)
