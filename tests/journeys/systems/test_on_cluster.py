"""Systems whose server only multiplies with the adjacency learn the same from a stored one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stored_graphs import stored

from privet.data import Graph, social_graph, split_nodes
from privet.errors import InvalidData
from privet.estimation.priors import structural_prior as prior
from privet.graph.distributed import ClusterGraph, StoredTopology
from privet.systems import Inquiry, Structure
from privet.systems.controls import label_propagation, simulate


@pytest.fixture(scope="module")
def graph() -> Graph:
    graph = social_graph(240, classes=3, average_degree=10, homophily=0.85, features=8, seed=0)
    return graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))


@pytest.fixture(scope="module")
def elsewhere(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The same graph, whose adjacency lies in a store and refuses to be loaded."""
    folder: Path = tmp_path_factory.mktemp("store")
    with ClusterGraph(stored(folder, graph.adjacency, 7), scratch=folder) as hosted:
        adjacency = StoredTopology(hosted)
        adjacency.loaded = lambda: pytest.fail("the adjacency was loaded")  # type: ignore[method-assign]
        data = {name: getattr(graph, name) for name in ("features", "labels", "split", "schema")}
        yield Graph.from_operator(adjacency, **data)


SYSTEMS = {
    "structure": Structure(),
    "structure, private labels": Structure(epsilon_labels=2.0),
    "features": Inquiry(epsilon_features=2.0, panel=0.1),
    "friends": Inquiry(epsilon_edges=1.0, epsilon_features=None, panel=None),
    "friends and features": Inquiry(epsilon_edges=1.0, epsilon_features=2.0, panel=0.1),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_predictions_are_those_of_the_graph_in_memory(name: str, graph: Graph, elsewhere: Graph) -> None:
    system = SYSTEMS[name]
    assert system.on_cluster
    expected = simulate(system, graph, 0)
    prior._RECENT.clear()
    found = simulate(system, elsewhere, 0)
    assert found.guarantee == expected.guarantee
    assert found.lines == expected.lines
    assert (found.predict() == expected.predict()).mean() > 0.97
    test = graph.split.test
    assert abs(found.score(graph.labels, test) - expected.score(graph.labels, test)) <= 0.02


def test_what_looks_at_every_friendship_is_refused_or_left_out(graph: Graph, elsewhere: Graph) -> None:
    settings = {"epsilon_features": 2.0, "panel": 0.1}
    assert simulate(Inquiry(**settings), graph, 0).certificate is not None
    assert simulate(Inquiry(**settings), elsewhere, 0).certificate is None
    with pytest.raises(InvalidData, match="run without a cluster"):
        simulate(Inquiry(**settings, defence=("trim",)), elsewhere, 0)


def test_the_prior_of_large_graphs_and_label_propagation(
    graph: Graph, elsewhere: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prior, "LARGE", 100)
    expected, found = (simulate(Structure(), each, 0).probabilities for each in (graph, elsewhere))
    assert np.allclose(expected, found, atol=1e-4)
    collected = [Structure().collect(each) for each in (graph, elsewhere)]
    assert collected[1].public.features is None
    expected, found = (label_propagation(each).probabilities for each in collected)
    assert np.allclose(expected, found, atol=1e-5)
