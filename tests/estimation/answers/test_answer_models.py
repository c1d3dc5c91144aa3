from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import log_softmax

from privet.estimation.answers import answer_models as resemblance
from privet.estimation.answers.answer_models import AnswerModel, KnownAccuracy, SeenScores, best_offers, evidence
from privet.mechanisms import OfferedResponse, SeededBits, SubsetResponse

CLASSES = 5


def seen_scores(people: int = 80, seed: int = 0) -> SeenScores:
    rng = np.random.default_rng(seed)
    labels = rng.integers(CLASSES, size=people)
    return SeenScores(rng.normal(size=(people, CLASSES)) + 1.5 * np.eye(CLASSES)[labels], labels, CLASSES)


def padded(offers: list[tuple[int, ...]]) -> NDArray[np.int16]:
    return np.array([[*each, *[-1] * (CLASSES - len(each))] for each in offers], dtype=np.int16)


ALL_OFFERS = [each for size in range(2, CLASSES + 1) for each in itertools.combinations(range(CLASSES), size)]
MODELS = [seen_scores(), KnownAccuracy(0.7, CLASSES)]


@pytest.mark.parametrize("offered", ALL_OFFERS)
def test_confusion_of_seen_scores_against_a_slow_count(offered: tuple[int, ...]) -> None:
    model = seen_scores()
    counts, right, inside = np.zeros((CLASSES, len(offered))), 0, 0
    for scores, label in zip(model.scores, model.labels, strict=True):
        best = max(range(len(offered)), key=lambda place: scores[offered[place]])
        counts[label, best] += 1
        right += offered[best] == label
        inside += label in offered
    share = max(right / inside, 1 / len(offered))
    found = model.confusion(offered)
    for label in range(CLASSES):
        usual = np.full(len(offered), 1 / len(offered))
        if label in offered:
            usual[:] = (1 - share) / (len(offered) - 1)
            usual[offered.index(label)] = share
        expected = (counts[label] + 2 * usual) / (counts[label].sum() + 2)
        np.testing.assert_allclose(found[label], expected)


@pytest.mark.parametrize("model", MODELS)
def test_answers_of_every_class_have_probabilities(model: AnswerModel) -> None:
    for offered in ALL_OFFERS:
        found = model.confusion(offered)
        assert found.min() > 0
        np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_a_class_that_nobody_shows_is_as_usual() -> None:
    model = SeenScores(np.eye(3)[[0, 0, 1]], np.array([0, 0, 1]), 3)
    np.testing.assert_allclose(model.confusion((0, 1))[2], 0.5)
    assert np.isfinite(SeenScores(np.zeros((0, 3)), np.zeros(0, dtype=np.int64), 3).confusion((0, 2))).all()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_evidence_is_the_enumerated_product_of_confusion_and_mechanism(model: AnswerModel, epsilon: float) -> None:
    mechanism = OfferedResponse(epsilon=epsilon, most=CLASSES)
    asked = [(offered, place) for offered in ALL_OFFERS for place in range(len(offered))]
    found = evidence(model, padded([o for o, _ in asked]), np.array([place for _, place in asked]), mechanism)
    for row, (offered, place) in enumerate(asked):
        size, confusion = len(offered), model.confusion(offered)
        code = min(mechanism.exact_distribution((0, size))) + place
        drawn = [float(mechanism.exact_distribution((truth, size))[code][0]) for truth in range(size)]
        for label in range(CLASSES):
            assert found[row, label] == pytest.approx(np.log(confusion[label] @ drawn), rel=1e-5)
    assert np.ptp(found, axis=1).max() <= epsilon + 1e-5  # an answer moves log-odds by at most epsilon


def information(prior: NDArray[Any], channel: NDArray[Any]) -> float:
    """Mutual information from the joint table, cell by cell."""
    total = 0.0
    for label, answer in itertools.product(range(len(prior)), range(channel.shape[1])):
        marginal = sum(prior[c] * channel[c, answer] for c in range(len(prior)))
        total += prior[label] * channel[label, answer] * np.log(channel[label, answer] / marginal)
    return total


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_offers_are_the_best_of_all_sets_of_likeliest_classes(model: AnswerModel, epsilon: float) -> None:
    mechanism = OfferedResponse(epsilon=epsilon, most=CLASSES)
    priors = log_softmax(2 * np.random.default_rng(1).normal(size=(40, CLASSES)), axis=1)
    offers, value = best_offers(priors, model, mechanism)
    for prior, offer, worth in zip(np.exp(priors), offers, value, strict=True):
        order = np.argsort(-prior)
        sets = [tuple(sorted(order[:size].tolist())) for size in range(2, CLASSES + 1)]
        found = {}
        for offered in sets:
            size = len(offered)
            keep, flip = mechanism.keep[size - 2], mechanism.flip[size - 2]
            randomised = np.full((size, size), flip) + (keep - flip) * np.eye(size)
            found[offered] = information(prior, model.confusion(offered) @ randomised)
        assert worth == pytest.approx(max(found.values()))
        assert found[tuple(int(c) for c in offer if c >= 0)] == pytest.approx(max(found.values()))
        assert worth > 0
    sizes = (offers >= 0).sum(axis=1)
    assert sizes.min() >= 2


def test_more_is_offered_at_larger_budgets() -> None:
    priors = np.log([[0.4, 0.36, 0.1, 0.08, 0.06]])
    sizes = [
        (best_offers(priors, KnownAccuracy(0.8, CLASSES), OfferedResponse(epsilon=e, most=CLASSES))[0] >= 0).sum()
        for e in (0.3, 6.0)
    ]
    assert sizes[0] < sizes[1] == CLASSES


def test_the_mechanism_bounds_the_options_and_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    priors = log_softmax(np.random.default_rng(2).normal(size=(30, CLASSES)), axis=1)
    mechanism = OfferedResponse(epsilon=5.0, most=3)
    offers, value = best_offers(priors, MODELS[0], mechanism)
    assert offers.shape == (30, 3)
    monkeypatch.setattr(resemblance, "_BLOCK", 7)
    again = best_offers(priors, MODELS[0], mechanism)
    assert np.array_equal(offers, again[0])
    np.testing.assert_allclose(value, again[1])


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("accuracy", [0.45, 0.8])
def test_the_accuracy_of_answers_is_estimated_through_their_noise(accuracy: float, private: bool) -> None:
    rng, people = np.random.default_rng(0), 20000
    labels = rng.integers(CLASSES, size=people)
    chosen = [ALL_OFFERS[each] for each in rng.integers(len(ALL_OFFERS), size=people)]
    model = KnownAccuracy(accuracy, CLASSES)
    truth = [rng.choice(len(o), p=model.confusion(o)[label]) for o, label in zip(chosen, labels, strict=True)]
    mechanism = OfferedResponse(epsilon=2.0, most=CLASSES)
    reports = mechanism.perturb(np.stack([truth, [len(o) for o in chosen]], axis=1), SeededBits(0))
    positions, _ = mechanism.decode(reports)
    heard = np.eye(CLASSES)[labels]
    if private:
        transition = np.full((CLASSES, CLASSES), 0.05) + 0.75 * np.eye(CLASSES)
        heard = transition.T[[rng.choice(CLASSES, p=transition[label]) for label in labels]]
    found = KnownAccuracy.estimated(padded(chosen), positions, heard, mechanism)
    wide = [np.mean([max(each.accuracy, 1 / len(o)) for o in ALL_OFFERS]) for each in (found, model)]
    assert wide[0] == pytest.approx(wide[1], abs=0.03)


def test_nobody_of_known_class_leaves_a_guess() -> None:
    mechanism = OfferedResponse(epsilon=1.0, most=CLASSES)
    nobody = np.zeros((0, CLASSES), dtype=np.int16)
    found = KnownAccuracy.estimated(nobody, np.zeros(0, dtype=np.int64), np.zeros((0, CLASSES)), mechanism)
    assert 1 / CLASSES < found.accuracy < 1
    assert evidence(found, nobody, np.zeros(0, dtype=np.int64), mechanism).shape == (0, CLASSES)


def test_groups_of_many_classes_are_those_of_few() -> None:
    """Sets too long for one number are grouped by rows."""
    wide = np.full((6, 80), -1, dtype=np.int16)
    wide[:, 0], wide[:, 1] = [0, 1, 0, 1, 2, 0], [3, 79, 3, 79, 4, 5]
    found = {offered: rows.tolist() for offered, rows in resemblance.groups_of_offers(wide)}
    assert found == {(0, 3): [0, 2], (1, 79): [1, 3], (2, 4): [4], (0, 5): [5]}
    assert {offered: rows.tolist() for offered, rows in resemblance.groups_of_offers(wide[:, :2])} == found


@pytest.mark.parametrize("kind", [OfferedResponse, SubsetResponse])
def test_decisive_offers_leave_the_best_chance_of_a_right_decision(kind: type[OfferedResponse]) -> None:
    mechanism, model = kind(epsilon=1.0, most=CLASSES), KnownAccuracy(0.8, CLASSES)
    prior = np.random.default_rng(0).dirichlet(np.ones(CLASSES), size=12)
    offers, _ = best_offers(np.log(prior), model, mechanism, decisive=True)
    for row, chances in zip(offers, prior, strict=True):

        def right(offered: tuple[int, ...], chances: NDArray[np.float64] = chances) -> float:
            told = model.confusion(offered) @ mechanism.channel(len(offered))
            return float((chances[:, None] * told).max(axis=0).sum())

        order = np.argsort(-chances)
        best = max(right(tuple(sorted(order[:size]))) for size in range(2, CLASSES + 1))
        assert right(tuple(c for c in row if c >= 0)) >= best - 1e-3  # information decides between equals


def test_evidence_of_a_subset_is_exact() -> None:
    mechanism, model = SubsetResponse(epsilon=0.5, most=CLASSES), KnownAccuracy(0.8, CLASSES)
    offers = padded([(0, 1, 2, 3, 4)] * 3)
    channel = mechanism.channel(CLASSES)
    assert channel.shape[1] > CLASSES  # several options in one report
    found = evidence(model, offers, np.array([0, 4, channel.shape[1] - 1]), mechanism)
    expected = model.confusion((0, 1, 2, 3, 4)) @ channel
    np.testing.assert_allclose(found, np.log(expected.T[[0, 4, -1]]), rtol=1e-5)
