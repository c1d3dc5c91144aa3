from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.data import Graph
from privet.errors import InvalidData
from privet.evaluation.scoring import Scores, class_figures, recalls, scored, with_split
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
