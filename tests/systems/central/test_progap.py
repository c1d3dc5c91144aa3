"""ProGAP: the sensitivity that it is priced with, stages that continue each other, and that it runs."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import random_graph, without_node
from thorough import thorough

from privet.data import social_graph, split_nodes
from privet.errors import InvalidParameter
from privet.systems.central import progap
from privet.systems.central._training_view import TrainingView, unit_sums
from privet.systems.central.gap import GAP
from privet.systems.central.progap import ProGAP


@thorough
@given(st.integers(0, 2**32), st.integers(2, 10), st.integers(1, 4))
def test_given_earlier_releases_an_aggregation_has_its_sensitivity(seed: int, nodes: int, most: int) -> None:
    """With the same weights and the same earlier aggregate, the sums with and without node 0."""
    rng = np.random.default_rng(seed)
    graph, released = random_graph(rng, nodes), rng.normal(size=(nodes, 5)).astype(np.float32)
    system = ProGAP(noise_multiplier=1.0, max_degree=most, depth=2, hidden_channels=5, seed=0)
    network, found, embedded = system.network(4, 3), [], []
    for side in (graph, without_node(graph, 0)):
        view = TrainingView.of(side, "test")
        embeddings = system._embeddings(network, 1, view, [released], view.members)
        spread = np.zeros((nodes, 5))
        spread[view.members] = unit_sums(embeddings, side.adjacency, view.members, most).exact()
        found.append(spread)
        embedded.append(embeddings)
    assert np.linalg.norm(found[0] - found[1]) <= system.process(100).sensitivity
    assert np.array_equal(embedded[0][1:], embedded[1][1:])  # nobody else's embedding moved, to the bit
    assert not embedded[1][0].any()


def test_a_stage_starts_where_the_one_before_ended() -> None:
    network = ProGAP(noise_multiplier=1.0, hidden_channels=5, seed=0)
    before, after = (network._stage(network.network(4, 3), stage) for stage in (0, 1))
    new = after[0].weight[:, 4:].detach().clone()
    progap._continue(before, after)
    assert torch.equal(after[0].weight[:, :4], before[0].weight)
    assert torch.equal(after[0].weight[:, 4:], new)
    assert torch.equal(after[-1].weight, before[-1].weight)


def test_each_stage_costs_and_calibration_keeps_its_promise() -> None:
    common: dict[str, Any] = {"target_epsilon": 3.0, "batch_size": 100, "epochs": 2}
    public = SimpleNamespace(num_nodes=500)
    system = ProGAP(**common)
    assert 2.9 < system.guarantee(public).epsilon <= 3.0
    assert "keeps are public" in system.guarantee(public).adjacency
    deeper = ProGAP(depth=2, **common)
    noises = [each.noise_multiplier_for(500) for each in (GAP(**common), system, deeper)]
    assert noises == sorted(noises)
    assert noises[0] < noises[1] < noises[2]


def test_learns_without_noise_and_repeats() -> None:
    graph = social_graph(1_200, classes=3, average_degree=8, homophily=0.8, features=30, feature_signal=0.6, seed=1)
    graph = graph.replace(split=split_nodes(graph, 0.6, 0.0, seed=1))
    common: dict[str, Any] = {"batch_size": 300, "epochs": 8, "hidden_channels": 32, "seed": 0}
    clear = ProGAP(target_epsilon=1.0, **common).without_privacy()
    fitted = clear.fit(graph)
    assert fitted.score(graph.labels, graph.split.test) > 0.8
    nodes = np.flatnonzero(~graph.split.train)
    assert clear.apply(fitted, graph.subgraph(nodes)).shape == (len(nodes), 3)
    noisy = ProGAP(noise_multiplier=5.0, num_layers=1, **{**common, "epochs": 1})
    assert np.array_equal(noisy.fit(graph).probabilities, noisy.fit(graph).probabilities, equal_nan=True)


def test_bad_parameters_in_one_sentence() -> None:
    for name in ("max_degree", "depth"):
        with pytest.raises(InvalidParameter, match=f"{name} must be"):
            ProGAP(noise_multiplier=1.0, **{name: 0})
    graph = random_graph(np.random.default_rng(0), 10)
    with pytest.raises(InvalidParameter, match=r"2\^32 noise values"):
        ProGAP(noise_multiplier=5.0, delta=0.01, batch_size=1, epochs=4e7, hidden_channels=4).fit(graph)
