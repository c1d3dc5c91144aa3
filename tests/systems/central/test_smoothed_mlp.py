"""The smoothed perceptron: smoothing against a slow loop, what it reads, and that it helps where friends agree."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from privet.data import Graph, social_graph, split_nodes
from privet.errors import InvalidParameter
from privet.systems.central.private_mlp import PrivateMLP
from privet.systems.central.smoothed_mlp import SmoothedMLP, smoothed


@given(st.integers(0, 2**32), st.integers(1, 8), st.integers(0, 4), st.sampled_from([0.0, 0.3, 1.0]))
def test_smoothing_against_a_loop(seed: int, nodes: int, hops: int, weight: float) -> None:
    rng = np.random.default_rng(seed)
    adjacency = (rng.random((nodes, nodes)) < 0.3) * 2.5  # weights do not matter
    start = rng.dirichlet(np.ones(3), size=nodes).astype(np.float32)
    current = start.astype(np.float64)
    for _ in range(hops):
        around = [current[adjacency[i] > 0].mean(0) if adjacency[i].any() else start[i] for i in range(nodes)]
        current = (1 - weight) * start + weight * np.array(around)
    found = smoothed(start, sp.csr_array(adjacency), weight, hops)
    np.testing.assert_allclose(found, current, atol=1e-6)
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-5)


@pytest.fixture(scope="module")
def graph() -> Graph:
    made = social_graph(2_000, classes=3, average_degree=12, homophily=0.9, features=30, feature_signal=0.4, seed=2)
    return made.replace(split=split_nodes(made, 0.5, 0.0, seed=2))


def test_training_reads_no_edge_and_smoothing_none_of_a_training_node(graph: Graph) -> None:
    common: dict[str, Any] = {"noise_multiplier": 0.0, "batch_size": 400, "epochs": 2, "hidden_channels": 8, "seed": 0}
    plain, smooth = PrivateMLP(**common).fit(graph), SmoothedMLP(**common).fit(graph)
    assert all(np.array_equal(plain.weights[name], smooth.weights[name]) for name in plain.weights)
    rows, columns = graph.adjacency.nonzero()
    inside = graph.split.test[rows] & graph.split.test[columns]
    kept = sp.csr_array((np.ones(inside.sum()), (rows[inside], columns[inside])), shape=graph.adjacency.shape)
    fewer = graph.replace(adjacency=kept)
    assert np.array_equal(SmoothedMLP(**common).fit(fewer).probabilities, smooth.probabilities, equal_nan=True)
    assert np.array_equal(SmoothedMLP(hops=0, **common).fit(graph).probabilities, plain.probabilities, equal_nan=True)
    none = graph.replace(adjacency=sp.csr_array(graph.adjacency.shape))
    assert np.array_equal(SmoothedMLP(**common).fit(none).probabilities, plain.probabilities, equal_nan=True)


def test_smoothing_helps_where_friends_agree(graph: Graph) -> None:
    common: dict[str, Any] = {"target_epsilon": 2.0, "batch_size": 500, "epochs": 5, "seed": 0}
    plain, smooth = (kind(**common).fit(graph) for kind in (PrivateMLP, SmoothedMLP))
    scores = [fitted.score(graph.labels, graph.split.test) for fitted in (plain, smooth)]
    assert scores[1] > scores[0] + 0.05
    assert smooth.guarantee is not None
    assert smooth.guarantee == plain.guarantee


@pytest.mark.parametrize(("changes", "name"), [({"weight": 1.5}, "weight"), ({"hops": -1}, "hops")])
def test_bad_parameters_in_one_sentence(changes: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidParameter, match=rf"^{name} must be [^\n]*, not"):
        SmoothedMLP(noise_multiplier=1.0, **changes)
