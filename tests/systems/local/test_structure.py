from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from privet.data import Graph, social_graph, split_nodes
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import SeededBits
from privet.systems.local.structure import Structure


@pytest.fixture(scope="module")
def graph() -> Graph:
    graph = social_graph(200, classes=3, average_degree=10, homophily=0.9, features=6, seed=0)
    return graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))


def test_nothing_is_asked_and_nothing_is_spent(graph: Graph) -> None:
    system = Structure(seed=0)
    collected = system.collect(graph)
    assert len(collected.answers.users) == 0
    assert system.guarantee(graph).epsilon == collected.guarantee().epsilon == 0.0
    assert system.lines(graph) == ()
    fitted = system.fit(collected)
    assert fitted.score(graph.labels, graph.split.test) > 0.7
    assert fitted.validation_score > 0.7


def test_features_are_not_needed_and_not_read(graph: Graph) -> None:
    bare = graph.replace(features=None)
    with_, without = (Structure(seed=0).fit(Structure().collect(each)).predict_proba() for each in (graph, bare))
    assert np.array_equal(with_, without)


def test_private_labels_cost_their_budget(graph: Graph) -> None:
    system = Structure(epsilon_labels=3.0, seed=0)
    assert system.guarantee(graph).epsilon == 3.0
    collected = system.collect(graph, SeededBits(0))
    assert (collected.public.labels == -1).all()
    assert set(collected.answers["label"].users) == set(np.flatnonzero(~graph.split.test))
    assert system.fit(collected).score(graph.labels, graph.split.test) > 0.6
    assert system.without_privacy() == Structure(seed=0)
    assert Structure.from_release(system.release(graph)).epsilon_labels == 3.0
    assert Structure.from_release(Structure().release(graph)) == Structure()


def test_a_budget_for_features_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="epsilon_features must be None"):
        Structure(epsilon_features=1.0)


def test_private_edges_are_refused(graph: Graph) -> None:
    hidden = graph.replace(schema=replace(graph.schema, private_edges=True))
    with pytest.raises(InvalidData, match="needs public edges"):
        Structure().collect(hidden)


def test_its_only_control_is_the_most_frequent_class(graph: Graph) -> None:
    (control,) = Structure().controls()
    shares = np.bincount(graph.labels[graph.split.train], minlength=3) / graph.split.train.sum()
    np.testing.assert_allclose(control.trained(Structure(), graph, 0).predict_proba()[0], shares, rtol=1e-5)


def test_another_graph_than_the_public_one_may_be_learned_from(graph: Graph) -> None:
    system, lonely = Structure(seed=0), Graph.from_edges([[], []], graph.num_nodes)
    collected = system.collect(graph)
    alone = system.fit_on(collected, lonely)
    assert not np.array_equal(alone.predict_proba(), system.fit(collected).predict_proba())
