"""Certificates of Inquiry's predictions: against friends who answer falsely, and against false published classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from privet.estimation.answers.answer_models import SeenScores, possible_evidence
from privet.estimation.answers.liars_needed import Possible, liars_needed, lost, margins_of, neighbour_links, own_links
from privet.estimation.answers.neighbour_evidence import class_mixing, told_of_neighbours
from privet.estimation.answers.trimmed_certificate import MOST_LIARS, trimmed_liars
from privet.estimation.friends.count_certificate import LEAST_CHANCE, MOST_FALSE
from privet.estimation.friends.count_trials import trials, turned
from privet.estimation.friends.friend_posterior import FriendPosterior
from privet.mechanisms import OfferedResponse
from privet.systems.certificate import Certificate
from privet.systems.collected import Collected
from privet.systems.local.inquiry.weighing import Weighed

__all__ = ["certify_answers", "certify_counts", "certify_person", "possible_answers"]

Array = NDArray[np.float64]

_QUICK, _THOROUGH = 1e8, 1e10  # numbers that are looked at to try all false classes


def certify_answers(
    collected: Collected, weighed: Weighed, *, bounded: bool = False, trimmed: bool = False
) -> Certificate:
    """Count the friends who must answer the feature question falsely to turn each prediction.

    The number is exact, and with trimmed evidence a lower bound.

    Args:
        collected: The answers and the public topology.
        weighed: The answers as they were weighed.
        bounded: True if each person's answer counts for a bounded part only.
        trimmed: True if the neighbours who say most and least are left out.
    """
    adjacency, seen = collected.topology.adjacency, collected.seen_labels()
    mixing = class_mixing(adjacency, seen, weighed.own.shape[1]).astype(np.float32)
    possible = Possible.of(*possible_answers(collected, weighed), mixing)
    own, told = weighed.own.astype(np.float64), told_of_neighbours(weighed.own, mixing).astype(np.float64)
    _, of_own, *rest = weighed.weights.weights
    of_neighbours, lies = np.array(rest), "false answers to the feature question"
    links = neighbour_links(adjacency, seen, of_neighbours, bounded=bounded)
    themselves = own_links(len(seen), of_own).joined(links).to_themselves(len(seen))
    alone = liars_needed(weighed.logits, themselves, own, told, possible) <= 1
    if trimmed:
        alone |= (adjacency.diagonal() != 0) & (possible.kinds >= 0)  # among whom to trim, an own answer is not bounded
        stood = trimmed_liars(weighed.logits, adjacency, seen, of_neighbours, own, told, possible, bounded=bounded)
        return Certificate(stood, alone, lies, MOST_LIARS)
    needed = liars_needed(weighed.logits, links.of_others(), own, told, possible)
    return Certificate((needed - 1).astype(np.float32), alone, lies)


def possible_answers(collected: Collected, weighed: Weighed) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return everything that people could have answered: any offered class, or nothing; a panel could show any class.

    Args:
        collected: The question with its offers, and the panel.
        weighed: The answers as they were weighed.
    """
    ((name, model),) = weighed.models.items()
    question = collected.release.question(name)
    offers, mechanism = question.ask.attachment("offers"), cast(OfferedResponse, question.mechanism)
    kinds, said = possible_evidence(model, offers, mechanism)
    classes = model.classes
    if collected.shown is None or not isinstance(model, SeenScores):
        return kinds, said
    answers = max(said.shape[1], classes + 1)
    said = np.pad(said, ((0, 1), (0, answers - said.shape[1]), (0, 0)))
    said[-1, :classes] = np.log(model.confusion(tuple(range(classes)))).T
    kinds[collected.shown.users] = len(said) - 1
    return kinds, said


def certify_person(collected: Collected, weighed: Weighed) -> Certificate:
    """Tell whose prediction no answer of their own could turn: nothing about friends can turn it either.

    A friend with a false published class may change the true answer; the server cannot see how near it was to another
    one. So a prediction that another answer would turn is taken to withstand no false class. Devices and simulations
    count more (:func:`~privet.estimation.answers.answer_stability.false_classes_to_turn`).

    Args:
        collected: The answers of one or two waves.
        weighed: The answers as they were weighed.
    """
    weight, rest = float(weighed.weights.weights[1]), weighed.logits - weighed.weights.weights[1] * weighed.own
    predicted, turned = weighed.logits.argmax(axis=1), np.zeros(len(rest), dtype=np.bool_)
    for name, model in weighed.models.items():
        question = collected.release.question(name)
        offers, mechanism = question.ask.attachment("offers"), cast(OfferedResponse, question.mechanism)
        kinds, said = possible_evidence(model, offers, mechanism)
        said = said - said.mean(axis=2, keepdims=True)
        people = np.flatnonzero(kinds >= 0)
        for answer in range(said.shape[1]):
            after = rest[people] + weight * said[kinds[people], answer]
            turned[people] |= lost(margins_of(after, predicted[people])).any(axis=1)
    withstands = np.where(turned, 0.0, np.inf).astype(np.float32)
    return Certificate(withstands, turned, "false published classes of friends", MOST_FALSE, "false class")


def certify_counts(
    logits: Array,
    rounds: Sequence[FriendPosterior],
    weighed: Weighed | None,
    asked: NDArray[np.bool_],
    *,
    thorough: bool = False,
) -> Certificate:
    """Count the friends' published classes that must be false to turn each prediction, at least.

    It counts entries of the published tables and not liars: the classes of a second round are predicted from other
    people's counts, so one liar can make several of them false.

    All ways to be false are tried where they are few enough; elsewhere they are bounded.

    Args:
        logits: Everybody's final logits.
        rounds: The rounds of the friend question, in order.
        weighed: The answers to the feature question, if it was asked: it weighs what the rounds found.
        asked: The people who were asked anything, and so could have answered something else.
        thorough: True to try for minutes and not for a second.
    """
    people = len(logits)
    size = np.full(people, 1.0 if weighed is None else float(weighed.weights.weights[0]))
    counting = np.zeros(people, dtype=np.bool_)
    for found in rounds:
        counting[found.counted.users] = True
    withstands = np.where(counting, _bounded(logits, rounds, size), np.inf).astype(np.float32)
    tried = [(found.counted, np.log(np.maximum(found.probabilities, 1e-300))) for found in rounds]
    for false in range(1, MOST_FALSE + 1 if tried else 1):
        open_ = np.flatnonzero(counting & (withstands == false - 1))
        if trials([counted for counted, _ in tried], len(open_), false) > (_THOROUGH if thorough else _QUICK):
            break
        withstands[open_[~turned(tried, open_, logits, size, false)]] = false
    return Certificate(withstands, asked | counting, "false published classes of friends", MOST_FALSE, "false class")


def _bounded(logits: Array, rounds: Sequence[FriendPosterior], size: Array) -> NDArray[np.float64]:
    """Return a number of false classes that each person's prediction withstands, by a bound on the change of margins.

    Args:
        logits: Everybody's final logits.
        rounds: The rounds of the friend question.
        size: The weight of the last round in the final logits.
    """
    people, classes = logits.shape
    predicted = logits.argmax(axis=1)
    best = np.full((MOST_FALSE + 1, MOST_FALSE + 1, people, classes), np.inf)
    best[0, 0] = 0.0
    size, unsure = size.copy(), size < 0  # a weight that turns evidence around is not bounded here
    for found in reversed(rounds):
        users = found.counted.users
        part = found.counted.least_change(best[:, :, users], predicted[users], np.maximum(size[users], 0.0))
        best[:, :, users] = part
        rare = np.log(np.maximum(found.probabilities, 1e-300)) < np.log(LEAST_CHANCE) + 1
        best = np.where(rare, best.min(axis=-1, keepdims=True), best)  # a class at the floor falls no further
        size[users] *= found.counted.weights[0]
        unsure |= size < 0
    margins = margins_of(logits, predicted)
    withstands = np.full(people, float(MOST_FALSE))
    for false in range(MOST_FALSE, 0, -1):
        fallen = margins + best[: false + 1, : false + 1].min(axis=(0, 1))
        withstands[lost(fallen).any(axis=1)] = false - 1
    return np.where(unsure, 0.0, withstands)
