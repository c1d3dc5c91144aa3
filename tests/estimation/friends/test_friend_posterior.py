from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privet.data import Graph, social_graph
from privet.errors import InvalidData
from privet.estimation import FriendPosterior, friend_posterior, second_round
from privet.estimation.friends.friend_posterior import _exposure, _Facts
from privet.mechanisms import Counts, RandomizedResponse, SeededBits
from privet.release import PrivateData
from privet.release.asks.friends import Friends, check_rounds, ranks_of

GRAPH = social_graph(2000, classes=3, seed=0)
CLASSES = 3


def truth() -> NDArray[np.int64]:
    assert GRAPH.labels is not None
    return GRAPH.labels


def roles(share: float = 0.7, calibrate: float = 0.3) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    labelled = np.random.default_rng(1).random(GRAPH.num_nodes) < share
    return labelled, labelled & (np.random.default_rng(2).random(GRAPH.num_nodes) < calibrate)


def answers(graph: Graph, ask: Friends, epsilon: float) -> tuple[NDArray[np.int64], Any, Counts]:
    mechanism = Counts(epsilon=epsilon, classes=CLASSES)
    users = ask.people()
    assert users is not None
    private = PrivateData.of(graph, users)
    return users, mechanism.perturb(ask.apply(private, mechanism), SeededBits(0)).symbols, mechanism


def accuracy(result: FriendPosterior, nodes: NDArray[np.bool_]) -> float:
    return float((result.probabilities[nodes].argmax(axis=1) == truth()[nodes]).mean())


def first_round(epsilon: float, share: float = 0.7) -> tuple[Friends, FriendPosterior, NDArray[np.bool_]]:
    labelled, calibrating = roles(share)
    ask = Friends(np.where(labelled, truth(), -1), ranks_of(labelled, calibrating))
    users, symbols, mechanism = answers(GRAPH, ask, epsilon)
    return ask, friend_posterior(users, symbols, ask.table, ask.ranks, mechanism), labelled


def test_counts_tell_classes_and_more_epsilon_tells_more() -> None:
    (_, low, labelled), (_, high, _) = first_round(0.5), first_round(4.0)
    largest = np.bincount(truth()).max() / len(truth())
    assert largest + 0.05 < accuracy(low, ~labelled) < accuracy(high, ~labelled) - 0.05
    assert high.probabilities.sum(axis=1) == pytest.approx(1.0)
    assert high.facts["calibrators"] == roles()[1].sum()
    assert high.facts["friends_within"] > 1 / CLASSES


def test_answers_of_others_tell_nothing() -> None:
    labelled, calibrating = roles()
    ask = Friends(np.where(labelled, truth(), -1), ranks_of(labelled, calibrating))
    users, symbols, mechanism = answers(GRAPH, ask, 4.0)
    dealt = symbols[np.random.default_rng(0).permutation(len(symbols))]
    result = friend_posterior(users, dealt, ask.table, ask.ranks, mechanism)
    assert accuracy(result, ~labelled) < np.bincount(truth()).max() / len(truth()) + 0.08


def test_nobodys_own_label_moves_their_row_much() -> None:
    """A calibrator's label enters a few shared numbers only, another labelled person's not even those of the row."""
    labelled, calibrating = roles()
    ask = Friends(np.where(labelled, truth(), -1), ranks_of(labelled, calibrating))
    users, symbols, mechanism = answers(GRAPH, ask, 2.0)
    before = friend_posterior(users, symbols, ask.table, ask.ranks, mechanism).probabilities
    one = int(np.flatnonzero(calibrating)[0])
    labels = np.array(ask.table)
    labels[one] = (labels[one] + 1) % CLASSES
    after = friend_posterior(users, symbols, ask.table, ask.ranks, mechanism, labels=labels).probabilities
    assert after[one] == pytest.approx(before[one], abs=0.03)


def test_a_prior_is_added() -> None:
    ask, alone, labelled = first_round(1.0)
    users, symbols, mechanism = answers(GRAPH, ask, 1.0)
    rng = np.random.default_rng(5)
    guess = np.where(rng.random(len(truth())) < 0.7, truth(), rng.integers(CLASSES, size=len(truth())))
    prior = np.log(0.1 + 0.7 * np.eye(CLASSES)[guess])
    both = friend_posterior(users, symbols, ask.table, ask.ranks, mechanism, prior=prior)
    assert accuracy(both, ~labelled) > max(accuracy(alone, ~labelled), (guess == truth())[~labelled].mean()) + 0.02
    silent = labelled & (np.asarray(ask.ranks) == 0)
    assert both.probabilities[silent] == pytest.approx(np.exp(prior)[silent])


def test_a_second_round_about_other_pairs_adds_to_the_first() -> None:
    first, before, labelled = first_round(4.0, share=0.2)
    second = second_round(first, before.probabilities)
    check_rounds((first, second))
    users, symbols, mechanism = answers(GRAPH, second, 4.0)
    assert not labelled[users].any()
    prior = np.log(before.probabilities)
    after = friend_posterior(users, symbols, second.table, second.ranks, mechanism, labels=first.table, prior=prior)
    assert accuracy(after, ~labelled) > accuracy(before, ~labelled) + 0.03


def test_the_least_certain_count_the_more_certain() -> None:
    first = Friends([0, -1, -1, -1], [0, 2, 2, 2])
    second = second_round(first, np.array([[1.0, 0.0], [0.6, 0.4], [0.1, 0.9], [0.7, 0.3]]), levels=3)
    assert second.table.tolist() == [-1, 0, 1, 0]
    assert second.ranks.tolist() == [0, 2, 0, 1]


def test_private_labels_are_seen_through() -> None:
    labelled, calibrating = roles()
    response = RandomizedResponse(epsilon=1.5, classes=CLASSES)
    reported = np.full(GRAPH.num_nodes, -1)
    reported[labelled] = response.perturb(truth()[labelled], SeededBits(3)).symbols[:, 0]
    ask = Friends(reported, ranks_of(labelled, calibrating))
    users, symbols, mechanism = answers(GRAPH, ask, 4.0)
    aware, naive = (
        friend_posterior(users, symbols, ask.table, ask.ranks, mechanism, label_transition=transition)
        for transition in (response.transition, None)
    )
    assert accuracy(aware, ~labelled) >= accuracy(naive, ~labelled)
    assert aware.facts["friends_within"] > naive.facts["friends_within"] + 0.1  # noise looks like weak homophily


def test_people_of_known_class_show_where_opposites_attract() -> None:
    rng = np.random.default_rng(0)
    classes = rng.integers(2, size=2000)
    labelled = np.arange(2000) < 1000
    ranks = ranks_of(labelled, np.arange(2000) < 500)
    users = np.flatnonzero(ranks > 0)
    mechanism = Counts(epsilon=2.0, classes=2)
    expected = np.where(np.eye(2)[classes[users]] > 0, 0.4, 2.0)  # of the own class, of the other
    symbols = mechanism.perturb(rng.poisson(expected), SeededBits(0)).symbols
    found = friend_posterior(users, symbols, np.where(labelled, classes, -1), ranks, mechanism)
    assert found.facts["friends_within"] < 0.4
    assert (found.probabilities[~labelled].argmax(axis=1) == classes[~labelled]).mean() > 0.75


def test_exposure_is_the_share_of_a_class_that_a_rank_counts() -> None:
    believed = np.array([[1.0, 0.0], [1.0, 0.0], [0.25, 0.75], [0.0, 1.0], [0.5, 0.5]])
    table, ranks = np.array([0, 0, 1, 1, -1]), np.array([0, 1, 0, 1, 2])
    facts = _Facts(np.log(np.maximum(believed, 1e-300)), np.full(5, -1), np.eye(2))
    found = _exposure(facts, table, ranks, np.array([1, 2]))
    assert found[0] == pytest.approx(np.array([[1.0, 0.25], [0.0, 0.75]]) / np.array([[2.25], [1.75]]))
    assert found[1] == pytest.approx(np.array([[2.0, 0.25], [0.0, 1.75]]) / np.array([[2.25], [1.75]]))


def test_nothing_to_learn_from_is_one_sentence() -> None:
    mechanism, nobody = Counts(epsilon=1.0, classes=2), np.full(3, -1)
    with pytest.raises(InvalidData, match="needs the label of at least one person"):
        friend_posterior(np.array([0]), np.zeros((1, 2), dtype=int), nobody, np.ones(3, dtype=int), mechanism)
    with pytest.raises(InvalidData, match="2 for each of 1 people"):
        friend_posterior(np.array([0]), np.zeros((1, 3), dtype=int), nobody, np.ones(3, dtype=int), mechanism)
