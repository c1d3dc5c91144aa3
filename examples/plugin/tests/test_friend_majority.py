"""The system of two rounds passes privet's checks, and the second round depends on the first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from privet_three_point.friend_majority import FriendMajority

from privet.data import Graph, social_graph, split_nodes
from privet.mechanisms import SeededBits
from privet.testing import check_local_system


def a_graph() -> Graph:
    graph = social_graph(160, classes=3, average_degree=10, homophily=0.9, features=4, seed=0)
    schema = replace(graph.schema, private_edges=True)
    return graph.replace(split=split_nodes(graph, 0.4, 0.2, seed=0), schema=schema)


def test_it_conforms() -> None:
    check_local_system(FriendMajority(epsilon_labels=3.0, epsilon_edges=2.0), a_graph())


def test_the_second_round_publishes_what_the_first_one_found() -> None:
    graph, system = a_graph(), FriendMajority(epsilon_labels=8.0, epsilon_edges=8.0)
    collected = system.collect(graph, SeededBits(0))
    table = collected.release.question("friends").ask.attachment("table")
    assert np.array_equal(table, collected.seen_labels())
    hidden = graph.split.test
    assert (system.fit(collected).predict() == graph.labels)[hidden].mean() > 0.6  # chance is about a third
