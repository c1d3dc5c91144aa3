"""Belief propagation against full enumeration on trees, and on graphs with noise."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from privet.data import social_graph, split_nodes
from privet.estimation.lists.beliefs import class_affinity, propagate_beliefs
from privet.estimation.lists.closure import ReportedPairs
from privet.mechanisms import AdjacencyResponse, SeededBits


def a_tree(seed: int, nodes: int = 7) -> ReportedPairs:
    rng = np.random.default_rng(seed)
    parents = np.array([rng.integers(child) for child in range(1, nodes)])
    order = np.lexsort((np.arange(1, nodes), parents))
    targets = np.arange(1, nodes)[order]
    return ReportedPairs(nodes, parents[order], targets, np.ones(nodes - 1, dtype=np.int64), 1, 0.01)


@pytest.mark.parametrize("seed", range(4))
def test_on_a_tree_beliefs_are_the_exact_marginals(seed: int) -> None:
    """Every assignment of classes and edges is listed."""
    classes, pairs = 3, a_tree(seed)
    rng = np.random.default_rng(seed + 10)
    probabilities = rng.uniform(0.2, 0.9, len(pairs))
    labels = np.where(rng.random(7) < 0.4, rng.integers(classes, size=7), -1)
    found = propagate_beliefs(pairs, probabilities, labels, classes, iterations=60, non_edges=False)
    affinity = class_affinity(pairs, labels, classes)
    prior = np.bincount(labels[labels >= 0], minlength=classes) + 1.0
    prior /= prior.sum()
    for node in range(7):
        fixed = labels.copy()
        fixed[node] = -1  # a node's own label is left out
        exact = np.zeros(classes)
        for assignment in itertools.product(range(classes), repeat=7):
            given = np.array(assignment)
            if ((fixed >= 0) & (given != fixed)).any():
                continue
            factors = probabilities * affinity[given[pairs.sources], given[pairs.targets]] + 1 - probabilities
            exact[given[node]] += prior[given].prod() * factors.prod()
        belief = np.exp(found.log_classes[node] - found.log_classes[node].max())
        assert np.allclose(belief / belief.sum(), exact / exact.sum(), atol=1e-6)
    edge = np.zeros((len(pairs), 2))
    for assignment in itertools.product(range(classes), repeat=7):
        given = np.array(assignment)
        if ((labels >= 0) & (given != labels)).any():
            continue
        meeting = affinity[given[pairs.sources], given[pairs.targets]]
        factors = probabilities * meeting + 1 - probabilities
        whole = prior[given].prod() * factors.prod()
        edge[:, 1] += whole * probabilities * meeting / factors
        edge[:, 0] += whole * (1 - probabilities) / factors
    assert np.allclose(found.edges, edge[:, 1] / edge.sum(axis=1), atol=1e-6)


def test_the_affinity_is_that_of_the_true_edges() -> None:
    """Noise joins classes at random; it is subtracted. Within 15 % on a graph of 12,000 edges."""
    graph = social_graph(3_000, classes=3, average_degree=8, homophily=0.8, features=0, seed=0)
    mechanism = AdjacencyResponse(epsilon=6.0, num_nodes=3_000, one_sided=True)
    pairs = ReportedPairs.from_reports(mechanism.perturb(graph.adjacency, SeededBits(0)), mechanism)
    assert pairs.expected_noise > 0.4 * len(pairs)
    found = class_affinity(pairs, graph.labels, 3)
    left, right = graph.labels[graph.edges]
    joint = np.zeros((3, 3))
    np.add.at(joint, (left, right), 1)
    joint = (joint + joint.T) / joint.sum() / 2
    assert np.allclose(found, joint / np.outer(joint.sum(0), joint.sum(0)), rtol=0.15)


def test_classes_tell_true_edges_from_noise() -> None:
    graph = social_graph(2_000, classes=4, average_degree=6, homophily=0.9, features=0, seed=1)
    mechanism = AdjacencyResponse(epsilon=6.0, num_nodes=2_000, one_sided=True)
    pairs = ReportedPairs.from_reports(mechanism.perturb(graph.adjacency, SeededBits(1)), mechanism)
    true = np.asarray(graph.adjacency[pairs.sources, pairs.targets]).ravel() > 0
    split = split_nodes(graph, 0.5, 0.25, seed=0)
    prior = pairs.posterior()
    beliefs = propagate_beliefs(pairs, prior, np.where(split.train, graph.labels, -1), 4)
    assert np.mean((beliefs.edges - true) ** 2) < 0.8 * np.mean((prior - true) ** 2)
    assert (beliefs.log_classes.argmax(1) == graph.labels)[split.test].mean() > 0.7


def test_under_heavy_noise_beliefs_do_not_run_off_into_one_class() -> None:
    """Two false edges for every true one: what the pairs without an edge say keeps the classes apart."""
    graph = social_graph(1_000, classes=3, average_degree=8, homophily=0.9, features=0, seed=0)
    mechanism = AdjacencyResponse(epsilon=4.2, num_nodes=1_000, one_sided=True)
    pairs = ReportedPairs.from_reports(mechanism.perturb(graph.adjacency, SeededBits(0)), mechanism)
    split = split_nodes(graph, 0.5, 0.25, seed=0)
    labels = np.where(split.train, graph.labels, -1)
    correct, collapsed = (
        (propagate_beliefs(pairs, pairs.posterior(), labels, 3, non_edges=field).log_classes.argmax(1) == graph.labels)
        for field in (True, False)
    )
    assert correct[split.test].mean() > 0.7 > collapsed[split.test].mean()


def test_a_graph_without_pairs_leaves_the_prior() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    pairs = ReportedPairs(4, nothing, nothing, nothing, 1, 0.01)
    beliefs = propagate_beliefs(pairs, np.zeros(0), np.array([0, 0, 1, -1]), 2)
    assert len(beliefs.edges) == 0
    assert np.allclose(np.exp(beliefs.log_classes), [0.6, 0.4])
