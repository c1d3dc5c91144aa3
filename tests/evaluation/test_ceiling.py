"""The ceiling is chosen by validation labels and knows no test label."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from privet.data import Graph, social_graph, split_nodes
from privet.errors import InvalidData
from privet.evaluation import ceiling as module
from privet.evaluation.ceiling import Candidate, ceiling


@pytest.fixture(scope="module")
def people() -> Graph:
    """People whose features tell much and whose edges tell little."""
    graph = social_graph(400, classes=3, features=24, homophily=0.4, feature_signal=0.9, active_features=6, seed=0)
    return graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))


def test_it_is_the_best_of_its_candidates_on_validation_nodes(people: Graph) -> None:
    each = [ceiling(people, 0, (candidate,)) for candidate in (Candidate(None), Candidate("gcn"))]
    both = ceiling(people, 0, (Candidate(None), Candidate("gcn")))
    assert both.validation_score == max(one.validation_score for one in each)
    assert both.guarantee is None
    assert both.settings["backbone"] == "none"  # the edges mislead here
    assert both.score(people.labels, people.split.test) > 0.75


def test_test_labels_are_out_of_reach(people: Graph) -> None:
    hidden = people.replace(labels=np.where(people.split.test, -1, people.labels))
    found = [ceiling(graph, 0, (Candidate("sage"),)).probabilities for graph in (people, hidden)]
    np.testing.assert_array_equal(*found)


def test_without_validation_nodes_some_training_nodes_choose(people: Graph) -> None:
    central = people.replace(split=split_nodes(people, 0.8, 0.0, seed=0))
    assert ceiling(central, 0, (Candidate(None),)).score(people.labels, central.split.test) > 0.7


def test_dense_features_are_standardised_column_by_column(people: Graph) -> None:
    shifted = np.asarray(people.features.toarray() * 50.0 + 1000.0, dtype=np.float32)
    wide = people.replace(schema=None).replace(features=shifted)
    from privet.data import Schema

    wide = wide.replace(schema=Schema.numeric(24, 1000.0, 1050.0, classes=3))
    assert ceiling(wide, 0, (Candidate(None),)).score(people.labels, people.split.test) > 0.7


def test_a_graph_without_labels_has_no_ceiling(people: Graph) -> None:
    with pytest.raises(InvalidData, match="labels"):
        ceiling(people.replace(labels=None), 0)


def test_a_candidate_far_behind_is_given_up_and_one_near_is_not(people: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    epochs: list[int] = []
    train = module.train

    def counted(*arguments: Any, **options: Any) -> Any:
        result = train(*arguments, **options)
        epochs.append(result.epochs)
        return result

    monkeypatch.setattr(module, "train", counted)
    hopeless = Candidate("gcn", dropout=0.0, weight_decay=10.0)  # its weights vanish
    ceiling(people, 0, (Candidate(None), hopeless, Candidate(None)))
    assert epochs[1] == 40
    assert epochs[2] == epochs[0] > 40
    epochs.clear()
    ceiling(people, 0, (hopeless,))
    assert epochs[0] >= 40  # there is nobody to be behind
