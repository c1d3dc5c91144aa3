"""NDP and GAP: the sensitivities they are priced with, closed forms of their accountants, and that they run."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from torch.nn.functional import cross_entropy

from privet.data import Graph, Schema, Split, social_graph, split_nodes
from privet.errors import InvalidParameter
from privet.models.clipping import clipped_gradient
from privet.systems.central._base import CentralSystem
from privet.systems.central._training_view import HeldGraph
from privet.systems.central.node_baselines import GAP, NDP, bounded_listeners
from privet.systems.central.smoothed_mlp import PrivateMLP


def random_graph(rng: np.random.Generator, nodes: int) -> Graph:
    pairs = np.array(np.nonzero(np.triu(rng.random((nodes, nodes)) < 0.6, k=1)))
    part = rng.integers(4, size=nodes)
    part[:2] = 0
    return Graph.from_edges(
        pairs,
        nodes,
        features=rng.normal(size=(nodes, 4)).astype(np.float32),
        labels=rng.integers(3, size=nodes),
        split=Split(part < 2, part == 2, part == 3),
        schema=Schema.numeric(4, -9, 9, classes=3),
    )


def without_node(graph: Graph, node: int) -> Graph:
    train = graph.split.train.copy()
    train[node] = False
    return graph.replace(split=Split(train, graph.split.validation, graph.split.test))


@given(st.integers(0, 2**32), st.integers(2, 10), st.integers(1, 4), st.booleans())
def test_degrees_are_bounded_and_nothing_is_added(seed: int, nodes: int, most: int, both: bool) -> None:
    dense = np.random.default_rng(seed).random((nodes, nodes)) < 0.6
    kept = bounded_listeners(sp.csr_array(dense.astype(np.float32)), most, both=both).toarray()
    assert (kept <= dense).all()
    assert (kept.sum(0) <= most).all()
    if both:
        assert (kept.sum(1) <= most).all()
    else:
        assert np.array_equal(kept.sum(0), np.minimum(dense.sum(0), most))


@given(st.integers(0, 2**32), st.integers(2, 10), st.integers(1, 4), st.booleans())
def test_ndp_sensitivity(seed: int, nodes: int, most: int, is_central: bool) -> None:
    """Given the coins, node 0 moves the sum by at most C + 1/2, with C the drawn sub-graphs of others that it is in."""
    rng = np.random.default_rng(seed)
    graph, falls = random_graph(rng, nodes), rng.random(nodes) < 0.6
    falls[0] = is_central
    system = NDP(noise_multiplier=0.0, max_degree=most, hidden_channels=5, batch_size=3, seed=0)
    network, sums, touched = system.network(4, 3), [], 0
    for side in (graph, without_node(graph, 0)):
        held = HeldGraph.of(side, "test")
        batch = system.sampler(held).form(
            np.flatnonzero(held.members & falls), lambda entries: np.ones(len(entries), bool)
        )
        y = torch.from_numpy(held.labels[batch.central])
        loss = lambda z, y=y: cross_entropy(z, y, reduction="none")  # noqa: E731
        parts = clipped_gradient(network, torch.from_numpy(system.inputs(batch, held)), loss, 0.5).sums
        sums.append(torch.cat([part.flatten().double() for part in parts]))
        touched = max(touched, int((batch.peripheral == 0).sum()))
    assert touched <= most
    assert float((sums[0] - sums[1]).norm()) <= touched + 0.5 * is_central + 1e-6


@given(st.integers(0, 2**32), st.integers(2, 10), st.integers(1, 4))
def test_gap_sensitivity(seed: int, nodes: int, most: int) -> None:
    graph = random_graph(np.random.default_rng(seed), nodes)
    system = GAP(noise_multiplier=1.0, max_degree=most)
    rows = []
    for side in (graph, without_node(graph, 0)):
        held = HeldGraph.of(side, "test")
        spread = np.zeros((nodes, 4))
        spread[held.members] = system._aggregate(held, held.members, side.adjacency)
        rows.append(spread)
    assert np.linalg.norm(rows[0] - rows[1]) <= system.sensitivity + 1e-5


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Of N(mu, 1) against N(0, 1)."""
    return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


@pytest.mark.parametrize(
    ("system", "mu"),
    [
        (NDP(noise_multiplier=40.0, batch_size=100, epochs=4, max_degree=3), 2 * math.sqrt(4) * 3.5 / 40),
        (GAP(noise_multiplier=5.0, batch_size=100, epochs=4, max_degree=3), math.sqrt(4 + 1) / 5),
    ],
    ids=["ndp", "gap"],
)
def test_without_sampling_the_accountants_are_gaussian(system: CentralSystem, mu: float) -> None:
    """At q = 1 every step is one Gaussian of known shift: T (or T + 1) of them are one of mu sqrt(T)."""
    epsilon = system.get_epsilon(1e-4, num_nodes=100)
    assert gaussian_delta(epsilon, mu) <= 1e-4
    assert gaussian_delta(0.98 * epsilon, mu) > 1e-4


@pytest.mark.parametrize("kind", [NDP, GAP])
def test_both_cost_more_than_a_perceptron_and_calibration_keeps_its_promise(kind: type[CentralSystem]) -> None:
    common: dict[str, Any] = {"batch_size": 100, "epochs": 2}
    system = kind(target_epsilon=3.0, **common)
    assert 2.9 < system.guarantee(500).epsilon <= 3.0
    assert system.noise_multiplier_for(500) > PrivateMLP(target_epsilon=3.0, **common).noise_multiplier_for(500)


@pytest.mark.parametrize("kind", [NDP, GAP])
def test_learns_without_noise_and_repeats(kind: type[CentralSystem]) -> None:
    graph = social_graph(1_200, classes=3, average_degree=8, homophily=0.8, features=30, feature_signal=0.6, seed=1)
    graph = graph.replace(split=split_nodes(graph, 0.6, 0.0, seed=1))
    common: dict[str, Any] = {"batch_size": 300, "epochs": 10, "hidden_channels": 32, "seed": 0}
    clear = kind(target_epsilon=1.0, **common).without_privacy()
    assert clear.fit(graph).score(graph.labels, graph.split.test) > 0.8
    noisy = kind(noise_multiplier=5.0, **common)
    assert np.array_equal(noisy.fit(graph).probabilities, noisy.fit(graph).probabilities)


@pytest.mark.parametrize("kind", [NDP, GAP])
def test_bad_degrees_in_one_sentence(kind: type[CentralSystem]) -> None:
    with pytest.raises(InvalidParameter, match=f"The 'max_degree' parameter of {kind.__name__} must be"):
        kind(noise_multiplier=1.0, max_degree=0)
    with pytest.raises(InvalidParameter, match="The 'noise' parameter"):
        kind(noise_multiplier=1.0, noise="sml")
    assert kind(noise_multiplier=1.0, batch_size=10, epochs=1).published_epsilon(1.0, 30, 1e-3) is None
