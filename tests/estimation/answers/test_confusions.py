from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from privet.estimation.answers.answer_models import KnownAccuracy
from privet.estimation.answers.confusions import Confusions
from privet.mechanisms import OfferedResponse, SeededBits, SubsetResponse

TRUTH = np.array([[0.8, 0.15, 0.05, 0.0], [0.1, 0.6, 0.3, 0.0], [0.05, 0.05, 0.9, 0.0], [0.25, 0.25, 0.25, 0.25]])
PEOPLE = 12_000


def answered(
    mechanism: OfferedResponse, sets: list[tuple[int, ...]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Simulate people of known class who choose among what they are offered in the proportions of TRUTH."""
    rng = np.random.default_rng(3)
    labels, which = rng.integers(4, size=PEOPLE), rng.integers(len(sets), size=PEOPLE)
    offers = np.array([[*each, *[-1] * (4 - len(each))] for each in sets])[which]
    chances = np.where(offers >= 0, np.take_along_axis(TRUTH[labels], np.maximum(offers, 0), axis=1), 0)
    ends = np.cumsum(chances, axis=1) / chances.sum(axis=1, keepdims=True)
    places = (rng.random(PEOPLE)[:, None] > ends).sum(axis=1)
    reports = mechanism.perturb(np.stack([places, (offers >= 0).sum(axis=1)], axis=1), SeededBits(1))
    return offers, mechanism.decode(reports)[0], labels


@pytest.mark.parametrize("kind", [OfferedResponse, SubsetResponse])
@pytest.mark.parametrize("sets", [[(0, 1, 2, 3)], [(0, 1, 2, 3), (0, 1, 3), (2, 3)]], ids=["all", "some"])
def test_choices_are_found_behind_randomised_answers(kind: type[OfferedResponse], sets: list[tuple[int, ...]]) -> None:
    mechanism = kind(epsilon=2.5, most=4)
    offers, positions, labels = answered(mechanism, sets)
    found = Confusions.estimated(offers, positions, np.eye(4)[labels], mechanism)
    # 3,000 people a class: a cell's deviation is below 0.02; an off estimate of any cell fails with chance below 1e-4.
    np.testing.assert_allclose(found.choices, TRUTH, atol=0.08)
    for each in sets:
        shares = TRUTH[:, each] / TRUTH[:, each].sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found.confusion(each), shares, atol=0.12)


def test_nobody_who_answers_leaves_what_was_assumed() -> None:
    nobody, mechanism = np.zeros((0, 4), dtype=np.int64), OfferedResponse(epsilon=1.0, most=4)
    before = KnownAccuracy(0.7, 4)
    found = Confusions.estimated(nobody, np.zeros(0, dtype=np.int64), np.zeros((0, 4)), mechanism, before)
    np.testing.assert_allclose(found.choices, before.confusion((0, 1, 2, 3)))


def test_usual_answers_are_wrong_by_the_shares_of_classes() -> None:
    found = Confusions.usual(0.7, np.array([0.5, 0.3, 0.2]))
    np.testing.assert_allclose(found.choices[0], [0.7, 0.18, 0.12])
    np.testing.assert_allclose(found.choices.sum(axis=1), 1.0)
