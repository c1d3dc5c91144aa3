"""Accuracies with intervals: unbiased, wide enough for the noise of labels, and silent where too little is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.collection.operator.facts import Accuracy, Facts, _gain

KEEP, FLIP = 0.576, 0.212  # three classes, epsilon 1


def randomised(true: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Whether predictions that are right where ``true`` agree with labels that were randomised."""
    return rng.random(len(true)) < np.where(true, KEEP, FLIP)


def test_the_interval_contains_the_truth_as_often_as_it_says() -> None:
    """95 % of 2,000 intervals, within 5 standard errors, although labels are randomised (false alarms below 1e-6)."""
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(2000):
        found = Accuracy.of(randomised(rng.random(120) < 0.8, rng), KEEP, FLIP)  # agreement is 50 % then
        covered += found.low <= 0.8 <= found.high
    assert covered / 2000 > 0.95 - 5 * np.sqrt(0.05 * 0.95 / 2000)


def test_the_estimate_is_unbiased_and_an_agreement_with_noisy_labels_is_not_an_accuracy() -> None:
    rng = np.random.default_rng(1)
    estimates = [Accuracy.of(randomised(np.arange(200) < 160, rng), KEEP, FLIP).estimate for _ in range(2000)]
    error = 5 * np.std(estimates) / np.sqrt(2000)
    assert abs(np.mean(estimates) - 0.8) < error


def test_fifty_noisy_labels_cannot_tell() -> None:
    found = Accuracy.of(np.arange(50) < 25, KEEP, FLIP)
    assert not found.told
    assert "cannot be told from 50 labels" in found.in_words()
    assert Accuracy.of(np.arange(500) < 250).in_words() == "50.0% (45.6% to 54.4% with 95 % confidence)"


@given(st.integers(1, 400), st.data())
def test_an_interval_contains_its_estimate_and_is_never_empty(count: int, data: st.DataObject) -> None:
    found = Accuracy.of(np.arange(count) < data.draw(st.integers(0, count)))
    assert 0 <= found.low <= found.estimate + 1e-12
    assert found.estimate - 1e-12 <= found.high <= 1
    assert found.low < found.high


def test_two_models_that_agree_on_a_few_nodes_are_not_equal() -> None:
    same = np.arange(50) < 25
    gain, margin = _gain(same, same, KEEP - FLIP)
    assert gain == 0.0
    assert margin > 0.1


def test_the_gain_is_that_of_the_same_nodes() -> None:
    gain, margin = _gain(np.arange(1000) < 700, np.arange(1000) < 500, 1.0)
    assert gain == pytest.approx(0.2)
    assert margin < 0.03


def test_facts_survive_json() -> None:
    one = Accuracy.of(np.arange(9) < 3)
    facts = Facts(9, 5, 3, 1, 6, 3, one, one, None, one, one, 0.1, 0.2, 2)
    assert Facts.from_dict(facts.to_dict()) == facts
    assert facts.response_rate == 5 / 9
