"""Metrics against slow references that follow the definitions word by word."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.evaluation.metrics import METRICS, classification_metrics, is_unbalanced, majority_share


@st.composite
def predictions(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    nodes, classes = draw(st.integers(1, 12)), draw(st.integers(2, 4))
    numbers = st.integers(0, 4)  # few values, so that there are ties
    rows = np.array(
        draw(st.lists(st.lists(numbers, min_size=classes, max_size=classes), min_size=nodes, max_size=nodes))
    )
    labels = np.array(draw(st.lists(st.integers(0, classes - 1), min_size=nodes, max_size=nodes)))
    return rows.astype(np.float32) + 0.5, labels


def by_definition(rows: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    guesses = [int(np.argmax(row)) for row in rows]
    pairs = list(zip(guesses, labels.tolist(), strict=True))
    recalls, scores, areas = [], [], []
    for c in sorted(set(labels.tolist())):
        hits = sum(g == y == c for g, y in pairs)
        misses, false = sum(y == c != g for g, y in pairs), sum(g == c != y for g, y in pairs)
        recalls.append(hits / (hits + misses))
        scores.append(2 * hits / (2 * hits + misses + false))
        ours, theirs = rows[labels == c, c], rows[labels != c, c]
        won = [(a > b) + 0.5 * (a == b) for a in ours for b in theirs]
        areas.append(float(np.mean(won)) if won else 0.5)
    right = float(np.mean([g == y for g, y in pairs]))
    return dict(
        zip(METRICS, (right, float(np.mean(recalls)), float(np.mean(scores)), float(np.mean(areas))), strict=True)
    )


@given(predictions())
def test_every_metric_is_its_definition(case: tuple[np.ndarray, np.ndarray]) -> None:
    assert classification_metrics(*case) == pytest.approx(by_definition(*case))


def test_one_class_for_all_is_no_knowledge() -> None:
    labels = np.repeat([0, 1], [78, 22])
    found = classification_metrics(np.tile([0.9, 0.1], (100, 1)), labels)
    assert found["accuracy"] == pytest.approx(0.78)
    assert found["balanced_accuracy"] == found["auc"] == 0.5


def test_a_prediction_that_was_not_made_is_wrong_and_an_unknown_label_does_not_count() -> None:
    rows = np.array([[0.9, 0.1], [np.nan, np.nan], [0.2, 0.8], [0.2, 0.8]])
    found = classification_metrics(rows, np.array([0, 0, 1, -1]))
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["balanced_accuracy"] == pytest.approx(0.75)


def test_unbalanced_from_seventy_per_cent_on() -> None:
    assert majority_share(np.array([0, 0, 1, -1])) == pytest.approx(2 / 3)
    assert is_unbalanced(np.repeat([0, 1], [70, 30]))
    assert not is_unbalanced(np.repeat([0, 1], [69, 31]))
