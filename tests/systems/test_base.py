from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from privet.data import Graph, social_graph, split_nodes
from privet.data.population import Population
from privet.errors import InvalidData
from privet.mechanisms import MultiBit, RandomizedResponse, SeededBits
from privet.systems import Collected, Fitted, LocalSystem


@dataclass(frozen=True, kw_only=True)
class Nearest(LocalSystem):
    """The class whose training nodes' features are closest on average: enough of a system for the boundary."""

    name = "nearest"

    def feature_mechanism(self, population: Population) -> MultiBit:
        return MultiBit.declare(population, epsilon=self.epsilon_features)

    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        estimate = collected.estimate().dense()
        labels = collected.seen_labels()
        centres = np.stack([estimate[collected.train & (labels == c)].mean(axis=0) for c in range(4)])
        scores = -((estimate[:, None, :] - centres) ** 2).sum(axis=2)
        return Fitted(self.name, collected.guarantee(), scores.astype(np.float32), settings=self.settings())


@pytest.fixture
def graph() -> Graph:
    graph = social_graph(300, features=12, seed=0)
    return graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))


@pytest.mark.parametrize("epsilon_labels", [None, 2.0])
def test_nothing_private_is_left_in_what_was_collected(graph: Graph, epsilon_labels: float | None) -> None:
    system = Nearest(epsilon_features=4.0, epsilon_labels=epsilon_labels)
    collected = system.collect(graph, SeededBits(0))
    before = system.fit(collected).predict_proba().copy()
    graph.features.data[:] = np.nan
    graph.labels[:] = 10**6
    assert (system.fit(collected).predict_proba() == before).all()
    assert collected.public.features is None
    assert not (collected.public.labels == 10**6).any()


def test_public_labels_are_those_of_training_and_validation_nodes_only(graph: Graph) -> None:
    collected = Nearest().collect(graph, SeededBits(0))
    seen = graph.split.train | graph.split.validation
    assert (collected.public.labels[seen] == graph.labels[seen]).all()
    assert (collected.public.labels[~seen] == -1).all()
    assert collected.label_response is None


def test_private_labels_are_only_seen_as_reports(graph: Graph) -> None:
    collected = Nearest(epsilon_labels=1.0).collect(graph, SeededBits(0))
    seen = graph.split.train | graph.split.validation
    assert (collected.public.labels == -1).all()
    assert collected.answers["label"].users.tolist() == np.flatnonzero(seen).tolist()
    assert (collected.seen_labels()[~seen] == -1).all()
    kept = (collected.seen_labels()[seen] == graph.labels[seen]).mean()
    keep = RandomizedResponse(epsilon=1.0, classes=4).keep
    assert abs(kept - keep) < 5 * np.sqrt(keep * (1 - keep) / seen.sum())  # another seed fails with a chance of 6e-7


def test_test_labels_do_not_reach_the_server(graph: Graph) -> None:
    other = graph.labels.copy()
    other[graph.split.test] = (other[graph.split.test] + 1) % 4
    for epsilon_labels in (None, 1.0):
        system = Nearest(epsilon_labels=epsilon_labels)
        one = system.fit(system.collect(graph, SeededBits(0))).predict_proba()
        two = system.fit(system.collect(graph.replace(labels=other), SeededBits(0))).predict_proba()
        assert (one == two).all()


def test_the_guarantee_names_what_is_protected(graph: Graph) -> None:
    alone = Nearest(epsilon_features=2.0)
    assert alone.collect(graph, SeededBits(0)).guarantee() == alone.guarantee(graph.schema)
    assert alone.guarantee(graph.schema).unit == "feature vector"
    both = Nearest(epsilon_features=2.0, epsilon_labels=1.0)
    assert both.guarantee(graph.schema).epsilon == 3.0
    assert both.guarantee(graph.schema) == both.collect(graph, SeededBits(0)).guarantee()
    assert both.guarantee(graph.schema).unit == "feature vector and label"


def test_unlabelled_nodes_report_no_label(graph: Graph) -> None:
    labels = graph.labels.copy()
    labels[:50] = -1
    collected = Nearest(epsilon_labels=1.0).collect(graph.replace(labels=labels), SeededBits(0))
    assert collected.answers["label"].users.min() >= 50


def test_private_edges_are_not_handed_to_the_server(graph: Graph) -> None:
    private = replace(graph.schema, private_edges=True)
    with pytest.raises(InvalidData, match="public edges"):
        Nearest().collect(graph.replace(schema=private), SeededBits(0))


@pytest.mark.parametrize("field", ["features", "labels", "split", "schema"])
def test_an_incomplete_graph_is_refused(graph: Graph, field: str) -> None:
    with pytest.raises(InvalidData, match=f"this graph has no {field}"):
        Nearest().collect(graph.replace(**{field: None}), SeededBits(0))
