"""A small graph that every experiment can run on, and systems that fit it in a moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from privet.data import Graph, save, social_graph, split_nodes
from privet.systems import LPGNN


@pytest.fixture(scope="session")
def graph() -> Graph:
    graph = social_graph(240, classes=3, features=12, homophily=0.9, feature_signal=0.9, seed=0)
    return graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))


@pytest.fixture(scope="session")
def dataset(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "tiny.npz"
    save(graph.replace(split=None), path)
    return path


@pytest.fixture
def system() -> LPGNN:
    return LPGNN(epsilon_features=4.0, hops=2, max_epochs=10)
