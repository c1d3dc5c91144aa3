from __future__ import annotations

import pytest
from privet_three_point.system import NearestCentre

from privet.data import Graph, social_graph, split_nodes
from privet.systems import SYSTEMS
from privet.testing import check_local_system


@pytest.fixture
def graph() -> Graph:
    graph = social_graph(500, classes=3, features=6, active_features=3, feature_signal=0.9, seed=0)
    return graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))


def test_privet_finds_it() -> None:
    assert SYSTEMS["nearest-centre"] is NearestCentre


@pytest.mark.parametrize("epsilon_labels", [None, 2.0])
def test_it_conforms(graph: Graph, epsilon_labels: float | None) -> None:
    check_local_system(NearestCentre(epsilon_features=4.0, epsilon_labels=epsilon_labels), graph)


def test_it_learns(graph: Graph) -> None:
    system = NearestCentre(epsilon_features=4.0, seed=0)
    fitted = system.fit(system.collect(graph))
    assert fitted.score(graph.labels, graph.split.test) > 0.6  # a third by chance
    assert fitted.guarantee.epsilon == 4.0
