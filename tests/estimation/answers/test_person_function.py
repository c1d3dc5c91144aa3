from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from privet.estimation.answers.person_function import (
    fit_person_function,
    friends_alone,
    with_given_scorer,
    with_unseen_friends,
)
from privet.estimation.answers.scorers import unit_rows

PEOPLE, CLASSES, WORDS = 400, 4, 60
RNG = np.random.default_rng(1)
LABELS = RNG.integers(CLASSES, size=PEOPLE)
MEANS = 0.05 + 0.15 * (np.arange(WORDS)[None] % CLASSES == np.arange(CLASSES)[:, None])
ROWS = sp.csr_array((RNG.random((PEOPLE, WORDS)) < MEANS[LABELS]).astype(np.float64))
NEXT = (LABELS + 1) % CLASSES  # friends are of the next class: the mixing is no multiple of the identity
FRIENDS = 1.5 * RNG.normal(size=(PEOPLE, CLASSES)) + 2.0 * np.eye(CLASSES)[NEXT]
SHARES = np.full(CLASSES, 1 / CLASSES)


def right(scores: np.ndarray) -> float:
    return float((scores.argmax(axis=1) == LABELS[200:]).mean())


def test_friends_and_features_together_tell_more_than_either() -> None:
    found = fit_person_function(ROWS[:200], FRIENDS[:200], LABELS[:200], SHARES)
    features = unit_rows(ROWS[200:]) @ found.scorer[:-1] + found.scorer[-1]
    friends = FRIENDS[200:] @ found.mixing
    assert right(features + friends) > max(right(features), right(friends)) + 0.04
    assert right(friends) > right(FRIENDS[200:]) + 0.3  # the mixing knows whose friends are of the next class
    assert found.scorer.dtype == found.mixing.dtype == np.int32
    assert max(np.abs(found.scorer).max(), np.abs(found.mixing).max()) == 1 << 20


def test_left_out_scores_promise_what_other_people_get() -> None:
    found = fit_person_function(ROWS[:200], FRIENDS[:200], LABELS[:200], SHARES)
    others = unit_rows(ROWS[200:]) @ found.scorer[:-1] + found.scorer[-1] + FRIENDS[200:] @ found.mixing
    promised = float((found.scores.argmax(axis=1) == found.labels).mean())
    assert abs(promised - right(others)) < 0.12  # 3 deviations of two shares of 200 people


def test_features_alone_have_no_mixing() -> None:
    found = fit_person_function(ROWS[:200], None, LABELS[:200], SHARES)
    assert found.mixing is None
    assert found.unit_length
    dense = fit_person_function(RNG.normal(size=(200, 5)) + LABELS[:200, None], None, LABELS[:200], SHARES)
    assert not dense.unit_length


def test_friends_whom_the_panel_does_not_show_have_a_fixed_weight() -> None:
    alone = fit_person_function(ROWS[:200], None, LABELS[:200], SHARES)
    found = with_unseen_friends(alone, CLASSES)
    weight = found.mixing[0, 0] / found.scorer[0] * (alone.scorer[0] / alone.unit)  # of friends, in units of log-odds
    np.testing.assert_allclose(weight, 1.5, rtol=1e-3)
    assert np.array_equal(found.mixing, np.diag(np.diag(found.mixing)))
    assert found.scores is None  # left-out scores of features alone say too little of these answers


def test_functions_without_a_panel() -> None:
    alone = friends_alone(np.array([0.7, 0.2, 0.1]))
    assert alone.scorer.argmax() == 0  # whoever has no friend whose class is published is of the largest class
    assert np.array_equal(alone.mixing, np.eye(3) * (1 << 20))
    given = with_given_scorer(np.array([[2.0, 0.0], [0.0, 0.5]]), 2, friends=True)
    assert given.scorer.tolist() == [[1 << 20, 0], [0, 1 << 18]]
    assert given.mixing.tolist() == [[1 << 19, 0], [0, 1 << 19]]
    assert with_given_scorer(len, 2, friends=False).mixing is None


@pytest.mark.parametrize("seed", [0, 1])
def test_a_fit_repeats(seed: int) -> None:
    one, two = (fit_person_function(ROWS[:200], FRIENDS[:200], LABELS[:200], SHARES, seed=seed) for _ in range(2))
    assert np.array_equal(one.scorer, two.scorer)
    assert np.array_equal(one.mixing, two.mixing)
