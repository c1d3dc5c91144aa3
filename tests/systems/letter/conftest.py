"""A small graph on which dense references and the systems are compared."""

from __future__ import annotations

import pytest

from privet.data import Graph, social_graph, split_nodes


@pytest.fixture(scope="session")
def lettered() -> Graph:
    graph = social_graph(90, classes=3, average_degree=5, homophily=0.8, features=8, seed=0)
    return graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))
