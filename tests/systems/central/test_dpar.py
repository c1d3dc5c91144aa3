"""DPAR: the sensitivity of its vectors and of its steps, its choice of neighbours, and that it runs."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import random_graph, without_node
from thorough import thorough

from privet.data import Graph, social_graph, split_nodes
from privet.errors import InvalidParameter
from privet.models.clipping import clipped_gradient
from privet.systems.central._training_view import TrainingView
from privet.systems.central.dpar import DPAR, pagerank_rows, selected


@thorough
@given(st.integers(0, 2**32), st.integers(2, 12), st.integers(1, 12))
def test_the_vectors_have_their_sensitivity_and_a_row_may_move_by_more_than_its_norm(
    seed: int, nodes: int, ranked: int
) -> None:
    graph = random_graph(np.random.default_rng(seed), nodes)
    starts = np.arange(min(ranked, nodes))
    found = []
    for side in (graph, without_node(graph, 0)):
        members = TrainingView.of(side, "test").members
        vectors = pagerank_rows(side.adjacency, members, starts, 0.01).exact()
        assert (vectors >= 0).all()
        assert (np.linalg.norm(vectors, axis=1) <= 1).all()
        assert not vectors[~members[starts]].any()
        found.append(vectors)
    system = DPAR(noise_multiplier=1.0, ranked=len(starts))
    assert np.linalg.norm(found[0] - found[1]) <= system.process(100).sensitivity


def test_the_published_sensitivity_is_too_small() -> None:
    """A hub holds a ring of leaves together: without it a leaf's vector of norm 1 moves by more than 1."""
    leaves = np.arange(1, 12)
    star = Graph.from_edges(np.stack([0 * leaves, leaves]), 12)
    everybody, without = np.ones(12, bool), np.arange(12) > 0
    moved = [pagerank_rows(star.adjacency, who, np.array([1]), 1e-4).exact()[0] for who in (everybody, without)]
    assert 1.0 < np.linalg.norm(moved[0] - moved[1]) <= 2**0.5


def test_vectors_against_the_equation() -> None:
    graph = random_graph(np.random.default_rng(1), 9)
    members = TrainingView.of(graph, "test").members
    inside = (graph.adjacency.toarray() + np.eye(9)) * np.outer(members, members)
    walk = inside / np.maximum(inside.sum(axis=0), 1)
    start = int(np.flatnonzero(members)[0])
    expected = 0.5 * np.linalg.solve(np.eye(9) - 0.5 * walk, np.eye(9)[start])
    found = pagerank_rows(graph.adjacency, members, np.array([start]), 0.5).exact()[0]
    np.testing.assert_allclose(found, expected / np.linalg.norm(expected), atol=1e-5)


@thorough
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 3))
def test_nobody_is_heard_by_more_than_allowed(seed: int, top: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    scores, starts = rng.normal(size=(5, 9)), rng.permutation(9)[:5]
    found = selected(scores, starts, top, most).toarray()
    assert (found.sum(axis=0) <= most).all()
    assert (found.sum(axis=1) <= top).all()
    assert not found.diagonal().any()
    assert not np.delete(found, starts, axis=0).any()
    free = selected(scores, starts, top, 5).toarray()
    assert (free[starts].sum(axis=1) == top).all()
    others = scores.copy()
    others[np.arange(5), starts] = -np.inf
    assert all(others[i].argmax() in np.flatnonzero(free[v]) for i, v in enumerate(starts))


@thorough
@given(st.integers(0, 2**32), st.integers(3, 10), st.integers(1, 3), st.booleans())
def test_given_the_vectors_a_step_moves_by_what_is_accounted_for(
    seed: int, nodes: int, most: int, is_central: bool
) -> None:
    rng = np.random.default_rng(seed)
    graph, falls = random_graph(rng, nodes), rng.random(nodes) < 0.6
    falls[0] = is_central
    system = DPAR(noise_multiplier=0.0, top=2, max_listeners=most, hidden_channels=5, seed=0)
    listens = selected(rng.normal(size=(nodes, nodes)), np.arange(nodes), 2, most)
    network, sums, touched = system.network(4, 3), [], 0
    for side in (graph, without_node(graph, 0)):
        view = TrainingView.of(side, "test")
        sampler = system.sampler(listens, view)
        batch = sampler.form(np.flatnonzero(view.members & falls), lambda entries: np.ones(len(entries), bool))
        rows = torch.from_numpy(system.inputs(batch, view))
        sums.append(clipped_gradient(network, rows, torch.from_numpy(view.labels[batch.central]), 0.5).exact())
        touched = max(touched, int((batch.peripheral == 0).sum()))
    assert touched <= most
    assert np.linalg.norm(sums[0] - sums[1]) <= touched + 0.5 * is_central


def test_it_needs_no_public_edges_and_calibration_keeps_its_promise() -> None:
    system = DPAR(target_epsilon=3.0, batch_size=100, epochs=2)
    guarantee = system.guarantee(SimpleNamespace(num_nodes=500))
    assert 2.9 < guarantee.epsilon <= 3.0
    assert guarantee.adjacency == "add or remove one training node with its features, label and edges"
    assert not any("edges of the whole graph" in each or "degree" in each for each in guarantee.unprotected)


def test_learns_without_noise_and_repeats() -> None:
    graph = social_graph(1_200, classes=3, average_degree=8, homophily=0.8, features=30, feature_signal=0.6, seed=1)
    graph = graph.replace(split=split_nodes(graph, 0.6, 0.0, seed=1))
    common: dict[str, Any] = {"batch_size": 300, "epochs": 8, "hidden_channels": 32, "seed": 0}
    clear = DPAR(target_epsilon=1.0, **common).without_privacy()
    assert clear.fit(graph).score(graph.labels, graph.split.test) > 0.8
    noisy = DPAR(noise_multiplier=5.0, **{**common, "epochs": 1})
    assert np.array_equal(noisy.fit(graph).probabilities, noisy.fit(graph).probabilities, equal_nan=True)


@pytest.mark.parametrize("changes", [{"ranked": 0}, {"top": 0}, {"max_listeners": 0}, {"teleport": 1.0}, {"hops": -1}])
def test_bad_parameters_in_one_sentence(changes: dict[str, Any]) -> None:
    (name,) = changes
    with pytest.raises(InvalidParameter, match=f"{name} must be"):
        DPAR(noise_multiplier=1.0, **changes)
