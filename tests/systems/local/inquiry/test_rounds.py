from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from privet.data import Graph, social_graph, split_nodes
from privet.mechanisms import SeededBits
from privet.systems.collected import Showing, Shown, labelled, public_view
from privet.systems.local.inquiry import Inquiry


@pytest.fixture(scope="module")
def graph() -> Graph:
    graph = social_graph(200, classes=3, average_degree=8, features=10, seed=0)
    return graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))


def test_what_people_show_is_theirs_and_a_copy(graph: Graph) -> None:
    users = np.array([3, 8, 11])
    shown = Shown.of(graph, Showing(users))
    assert np.array_equal(shown.features.toarray(), graph.features.toarray()[users])
    assert np.array_equal(shown.labels, graph.labels[users])
    everybody = Shown.of(graph, Showing(np.arange(200), classes=False))
    assert (everybody.labels == -1).all()
    for each in (shown, everybody):
        assert not any(
            np.shares_memory(getattr(each.features, name), getattr(graph.features, name))
            for name in ("data", "indices", "indptr")
        )


def test_what_was_learned_is_learned_once_and_stays_through_rounds(graph: Graph) -> None:
    system, counted = Inquiry(seed=0, panel=0.3), Counter[str]()
    collected = system.opened(public_view(graph, system.release(graph)), Shown.of(graph, system.shows(graph)))

    def compute() -> int:
        counted["computed"] += 1
        return 7

    assert collected.once("something", compute) == collected.once("something", compute) == 7
    assert counted["computed"] == 1
    later = system.collect(graph, SeededBits(0))
    assert "something" not in later.learned  # another collection has nothing of this one
    assert {"scorer", "prior"} <= later.learned.keys()


def test_shown_classes_are_seen_beside_reported_ones(graph: Graph) -> None:
    system = Inquiry(seed=0, panel=0.3, epsilon_labels=0.1)
    collected = system.collect(graph, SeededBits(0))
    users = collected.shown.users
    seen = collected.seen_labels()
    assert np.array_equal(seen[users], graph.labels[users])
    assert not np.intersect1d(collected.answers["label"].users, users).size  # they show it, and are not asked
    others = np.setdiff1d(np.flatnonzero(labelled(graph)), users)
    assert (seen[others] != graph.labels[others]).any()
    assert (seen[graph.split.test] == -1).all()
