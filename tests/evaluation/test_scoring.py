from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.data import Graph
from privet.errors import InvalidData
from privet.evaluation.scoring import (
    METRICS,
    Scores,
    class_figures,
    classification_metrics,
    is_unbalanced,
    majority_share,
    recalls,
    scored,
    with_split,
)
from privet.systems import LPGNN, HeterPoisson
from privet.systems.controls import simulate


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 3), st.booleans()), min_size=1, max_size=30))
def test_recall_is_the_count_of_every_class(rows: list[tuple[int, int, bool]]) -> None:
    predicted, labels, nodes = (np.array(column) for column in zip(*rows, strict=True))
    recall, support = recalls(predicted, labels, nodes, 4)
    for each in range(4):
        members = [(guess, truth) for guess, truth, inside in rows if inside and truth == each]
        assert support[each] == len(members)
        if members:
            assert recall[each] == pytest.approx(np.mean([guess == truth for guess, truth in members]))
        else:
            assert recall[each] is None


def test_means_over_seeds_leave_out_those_without_the_class() -> None:
    own = [Scores(0.5, 1.0, {}, (0.5, None), (4, 0)), Scores(0.5, 1.0, {}, (1.0, None), (2, 0))]
    other = [Scores(0.5, 1.0, {}, (0.25, None), (4, 0))] * 2
    first, second = class_figures(own, {"structure_only": other})
    assert (first.number, first.support, first.recall) == (0, 3.0, 75.0)
    assert first.std == pytest.approx(35.355, abs=1e-3)
    assert first.controls == {"structure_only": 25.0}
    assert (second.support, second.recall, second.std) == (0.0, None, None)


def test_seeds_give_other_splits_and_all_systems_the_same_test_nodes(graph: Graph) -> None:
    bare = graph.replace(split=None)
    one, two = (with_split(LPGNN(), bare, seed).split for seed in (0, 1))
    assert (one.train != two.train).any()
    assert (one.train.sum(), one.validation.sum(), one.test.sum()) == (120, 60, 60)
    central = with_split(HeterPoisson(noise_multiplier=1.0), bare, 0).split
    assert (central.train.sum(), central.validation.sum(), central.test.sum()) == (180, 0, 60)
    assert (central.test == one.test).all()  # local and central systems are compared on the same people


def test_the_users_own_split_is_respected(graph: Graph) -> None:
    assert with_split(LPGNN(), graph, 5).split is graph.split


def test_fewer_labels_leave_validation_and_test_as_they_are(graph: Graph) -> None:
    whole, tenth = (with_split(LPGNN(), graph.replace(split=None), 3, rate).split for rate in (0.5, 0.1))
    assert whole.train.sum() == graph.num_nodes // 2
    assert tenth.train.sum() == graph.num_nodes // 10
    assert not (tenth.train & ~whole.train).any()
    assert (tenth.validation == whole.validation).all()
    assert (tenth.test == whole.test).all()


def test_scores_are_those_of_test_nodes_and_survive_a_file(system: LPGNN, graph: Graph) -> None:
    fitted = simulate(system, graph, 0)
    found = scored(lambda: fitted, graph)
    right = fitted.predict()[graph.split.test] == graph.labels[graph.split.test]
    assert found.test == pytest.approx(right.mean())
    assert sum(found.support) == graph.split.test.sum()
    assert Scores.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    with pytest.raises(InvalidData, match="a split"):
        scored(lambda: fitted, graph.replace(split=None))


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
