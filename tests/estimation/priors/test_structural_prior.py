from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import log_softmax

from privet.data import Graph, social_graph
from privet.errors import InvalidData
from privet.estimation.priors import structural_prior as prior
from privet.estimation.priors.structural_prior import FOLDS, calibrated, neighbour_prior, structural_prior
from privet.estimation.shared_weights import SharedWeights

CLASSES = 3


@pytest.fixture(scope="module")
def graph() -> Graph:
    return social_graph(300, classes=CLASSES, average_degree=10, homophily=0.85, seed=0)


@pytest.fixture(scope="module")
def labels(graph: Graph) -> NDArray[np.int64]:
    return np.where(np.arange(300) % 2, graph.labels, -1).astype(np.int64)


@pytest.fixture(scope="module")
def found(graph: Graph, labels: NDArray[np.int64]) -> NDArray[np.float64]:
    return structural_prior(graph.adjacency, labels, CLASSES, seed=0)


def likelihood(log_prior: NDArray[Any], truth: NDArray[Any]) -> float:
    return float(log_prior[np.arange(len(truth)), truth].mean())


@pytest.mark.parametrize("person", [1, 101, 299])
def test_nobodys_own_label_is_in_their_prior(
    graph: Graph, labels: NDArray[np.int64], found: NDArray[np.float64], person: int
) -> None:
    changed = labels.copy()
    changed[person] = (labels[person] + 1) % CLASSES
    other = structural_prior(graph.adjacency, changed, CLASSES, seed=0)
    assert np.array_equal(other[person], found[person])  # to the last bit
    assert not np.array_equal(other, found)  # though others learn from it


def test_rows_are_probabilities_and_repeat(
    graph: Graph, labels: NDArray[np.int64], found: NDArray[np.float64], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert found.shape == (300, CLASSES)
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1.0, atol=1e-5)
    monkeypatch.setattr(prior, "_RECENT", {})
    assert np.array_equal(structural_prior(graph.adjacency, labels, CLASSES, seed=0), found)
    assert not np.array_equal(structural_prior(graph.adjacency, labels, CLASSES, seed=1), found)


def test_what_is_remembered_is_not_changed_by_its_reader(graph: Graph, labels: NDArray[np.int64]) -> None:
    first = structural_prior(graph.adjacency, labels, CLASSES, seed=0)
    kept = first.copy()
    first[:] = 0
    assert np.array_equal(structural_prior(graph.adjacency, labels, CLASSES, seed=0), kept)


def test_networks_leave_the_random_state_of_others_alone(graph: Graph, labels: NDArray[np.int64]) -> None:
    import torch

    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    structural_prior(graph.adjacency, labels, CLASSES, seed=None)
    assert torch.equal(torch.rand(1), expected)


def test_homophily_beats_the_shares_of_classes(
    graph: Graph, labels: NDArray[np.int64], found: NDArray[np.float64]
) -> None:
    unseen = np.flatnonzero(labels < 0)
    assert (found[unseen].argmax(axis=1) == graph.labels[unseen]).mean() > 0.75
    shares = np.bincount(labels[labels >= 0], minlength=CLASSES) / (labels >= 0).sum()
    assert likelihood(found[unseen], graph.labels[unseen]) > np.log(shares[graph.labels[unseen]]).mean() + 0.2
    seen = np.flatnonzero(labels >= 0)  # people of known class are predicted as well as others, not better
    assert (found[seen].argmax(axis=1) == labels[seen]).mean() < 0.97


def test_private_labels_enter_through_their_transition(graph: Graph) -> None:
    """Reports that mostly name the next class are understood by their transition matrix."""
    transition = np.full((CLASSES, CLASSES), 0.05) + 0.85 * np.roll(np.eye(CLASSES), 1, axis=1)
    rng = np.random.default_rng(0)
    reported = np.array([rng.choice(CLASSES, p=transition[label]) for label in graph.labels])
    reported[::3] = -1
    found = structural_prior(graph.adjacency, reported, CLASSES, label_transition=transition)
    naive = structural_prior(graph.adjacency, reported, CLASSES)
    assert (found.argmax(axis=1) == graph.labels).mean() > 0.8
    assert (naive.argmax(axis=1) == graph.labels).mean() < 0.2


@pytest.mark.parametrize("power", [0.4, 2.0])
def test_one_power_makes_a_prior_as_sure_as_it_is_right(power: float) -> None:
    rng = np.random.default_rng(0)
    true = log_softmax(rng.normal(size=(20_000, CLASSES)), axis=1)
    labels = np.array([rng.choice(CLASSES, p=np.exp(row)) for row in true])
    labels[::2] = -1
    found = calibrated(log_softmax(true / power, axis=1), labels)
    np.testing.assert_allclose(found, true, atol=0.2)
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1.0)
    transition = np.full((CLASSES, CLASSES), 0.1) + 0.7 * np.eye(CLASSES)
    reported = np.array([-1 if label < 0 else rng.choice(CLASSES, p=transition[label]) for label in labels])
    through = calibrated(log_softmax(true / power, axis=1), reported, transition)
    assert np.abs(through - true).mean() < np.abs(calibrated(true, reported) - true).mean()


def test_classes_that_do_not_follow_the_structure_cost_nothing(graph: Graph) -> None:
    """Labels dealt at random, half of class 0: networks that follow the structure are right for 3 % fewer people.

    The mean of five draws: a draw is at most two of its some 90 people below the most frequent class, and 23 of 25
    draws are not below it at all.
    """
    lost = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        truth = rng.choice(CLASSES, p=[0.5, 0.25, 0.25], size=300)
        labels = np.where(rng.random(300) < 0.7, truth, -1)
        unseen = labels < 0
        found = calibrated(structural_prior(graph.adjacency, labels, CLASSES, seed=seed), labels)
        lost.append((truth[unseen] == 0).mean() - (found[unseen].argmax(axis=1) == truth[unseen]).mean())
    assert np.mean(lost) < 0.015


@pytest.mark.parametrize("make", [structural_prior, neighbour_prior])
def test_a_graph_without_edges_tells_the_shares_of_the_classes(make: Any) -> None:
    labels = np.full(200, -1)
    labels[:100] = np.arange(100) % 4 > 0  # a quarter of class 0
    found = np.exp(calibrated(make(sp.csr_array((200, 200), dtype=np.float32), labels, 2), labels))
    np.testing.assert_allclose(found.mean(axis=0), [0.25, 0.75], atol=0.15)
    assert (found.argmax(axis=1) == 1).all()


@pytest.mark.parametrize("people", [2 * FOLDS, 2 * FOLDS + 1, 2 * FOLDS + 7])
def test_tiny_graphs(people: int) -> None:
    ring = sp.csr_array(
        (np.ones(people), (np.arange(people), (np.arange(people) + 1) % people)), shape=(people, people)
    )
    found = structural_prior(sp.csr_array(ring + ring.T, dtype=np.float32), np.arange(people) % 2, 2)
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1.0, atol=1e-5)


def test_labels_that_do_not_fit_are_one_sentence(graph: Graph, labels: NDArray[np.int64]) -> None:
    few = np.full(300, -1)
    few[: 2 * FOLDS - 1] = 0
    for make in (structural_prior, neighbour_prior):
        with pytest.raises(InvalidData, match=r"needs the labels of at least 10 people, not of 9\.$"):
            make(graph.adjacency, few, CLASSES)
        with pytest.raises(InvalidData, match="labels must be one for each of 300 people, not 299 labels"):
            make(graph.adjacency, labels[:-1], CLASSES)
        with pytest.raises(InvalidData, match="labels must be below 3, or -1 where none is visible, not 3"):
            make(graph.adjacency, np.where(labels >= 0, labels + 1, -1), CLASSES)


def slow_hops(adjacency: NDArray[Any], labels: NDArray[Any], person: int) -> NDArray[Any]:
    """Walks of two steps from a person to labelled people, those that end at the person left out."""
    degrees = np.maximum(adjacency.sum(axis=1), 1)
    found = np.zeros(CLASSES)
    for middle in np.flatnonzero(adjacency[person]):
        for end in np.flatnonzero(adjacency[middle]):
            if end != person and labels[end] >= 0:
                found[labels[end]] += 1 / degrees[person] / degrees[middle]
    return found


def test_ones_own_label_is_taken_out_of_two_hops_exactly(
    graph: Graph, labels: NDArray[np.int64], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[NDArray[Any]] = []
    plain = prior._log_shares

    def noted(weights: NDArray[np.float32], shares: NDArray[np.float32]) -> NDArray[np.float32]:
        taken.append(weights.copy())
        return plain(weights, shares)

    monkeypatch.setattr(prior, "_log_shares", noted)
    neighbour_prior(graph.adjacency, labels, CLASSES)
    dense = graph.adjacency.toarray()
    expected = np.stack([slow_hops(dense, labels, person) for person in range(300)])
    np.testing.assert_allclose(taken[1], expected, atol=1e-5)


def test_few_columns_do_nearly_as_well(graph: Graph, labels: NDArray[np.int64], found: NDArray[np.float64]) -> None:
    few = neighbour_prior(graph.adjacency, labels, CLASSES)
    unseen = labels < 0
    np.testing.assert_allclose(np.exp(few).sum(axis=1), 1.0, atol=1e-5)
    assert likelihood(few[unseen], graph.labels[unseen]) > likelihood(found[unseen], graph.labels[unseen]) - 0.15


def test_a_label_moves_its_owners_row_through_few_shared_weights_only(
    graph: Graph, labels: NDArray[np.int64], monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = SharedWeights(np.array([1.0, 1.0]), np.zeros(CLASSES))
    monkeypatch.setattr(SharedWeights, "fit", lambda *given: weights)
    before = neighbour_prior(graph.adjacency, labels, CLASSES)
    for person in (1, 101, 299):
        changed = labels.copy()
        changed[person] = (labels[person] + 1) % CLASSES
        after = neighbour_prior(graph.adjacency, changed, CLASSES)
        friend = graph.adjacency.indices[graph.adjacency.indptr[person]]
        assert np.abs(after[person] - before[person]).max() < 0.05  # the shares of the classes are shared too
        assert np.abs(after[friend] - before[friend]).max() > 0.05


def test_from_many_people_on_few_columns_are_used(
    graph: Graph, labels: NDArray[np.int64], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prior, "LARGE", 300)
    assert np.array_equal(
        structural_prior(graph.adjacency, labels, CLASSES), neighbour_prior(graph.adjacency, labels, CLASSES)
    )


def test_without_edges_the_prior_is_the_shares_among_other_people() -> None:
    labels = np.array([0, 0, 0, 1] * 25 + [-1] * 10)
    prior = np.exp(structural_prior(sp.csr_array((110, 110)), labels, 2))
    np.testing.assert_allclose(prior.sum(axis=1), 1)
    np.testing.assert_allclose(prior[100:], np.tile([76 / 102, 26 / 102], (10, 1)))
    assert len(np.unique(prior[:100, 0])) > 1  # folds, each told of the others only
    changed = labels.copy()
    changed[0] = 1
    again = np.exp(structural_prior(sp.csr_array((110, 110)), changed, 2))
    np.testing.assert_array_equal(again[0], prior[0])  # nobody is told of their own label
    flip = np.array([[0.8, 0.2], [0.2, 0.8]])
    truer = np.exp(structural_prior(sp.csr_array((110, 110)), labels, 2, label_transition=flip))
    np.testing.assert_allclose(truer[-1, 0], (76 / 102 - 0.2) / 0.6)
