"""GAP: the sensitivity that it is priced with, and that it runs."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import random_graph, without_node
from thorough import thorough

from privet.data import social_graph, split_nodes
from privet.errors import InvalidParameter
from privet.systems.central._training_view import TrainingView, unit_sums
from privet.systems.central.gap import GAP
from privet.systems.central.private_mlp import PrivateMLP


@thorough
@given(st.integers(0, 2**32), st.integers(2, 10), st.integers(1, 4))
def test_gap_sensitivity(seed: int, nodes: int, most: int) -> None:
    graph = random_graph(np.random.default_rng(seed), nodes)
    rows = []
    for side in (graph, without_node(graph, 0)):
        view = TrainingView.of(side, "test")
        spread = np.zeros((nodes, 4))
        spread[view.members] = unit_sums(view.features, side.adjacency, view.members, most).exact()
        rows.append(spread)
    assert np.linalg.norm(rows[0] - rows[1]) <= GAP(noise_multiplier=1.0, max_degree=most).process(100).sensitivity


def test_it_costs_more_than_a_perceptron_and_calibration_keeps_its_promise() -> None:
    common: dict[str, Any] = {"batch_size": 100, "epochs": 2}
    system = GAP(target_epsilon=3.0, **common)
    assert 2.9 < system.guarantee(SimpleNamespace(num_nodes=500)).epsilon <= 3.0
    assert system.noise_multiplier_for(500) > PrivateMLP(target_epsilon=3.0, **common).noise_multiplier_for(500)


def test_learns_without_noise_and_repeats() -> None:
    graph = social_graph(1_200, classes=3, average_degree=8, homophily=0.8, features=30, feature_signal=0.6, seed=1)
    graph = graph.replace(split=split_nodes(graph, 0.6, 0.0, seed=1))
    common: dict[str, Any] = {"batch_size": 300, "epochs": 10, "hidden_channels": 32, "seed": 0}
    clear = GAP(target_epsilon=1.0, **common).without_privacy()
    assert clear.fit(graph).score(graph.labels, graph.split.test) > 0.8
    noisy = GAP(noise_multiplier=5.0, **common)
    assert np.array_equal(noisy.fit(graph).probabilities, noisy.fit(graph).probabilities, equal_nan=True)


def test_bad_degrees_in_one_sentence() -> None:
    with pytest.raises(InvalidParameter, match="max_degree must be"):
        GAP(noise_multiplier=1.0, max_degree=0)
    with pytest.raises(InvalidParameter, match="noise must be"):
        GAP(noise_multiplier=1.0, noise="sml")
