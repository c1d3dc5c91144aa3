from __future__ import annotations

import pytest
from privet.evaluation.measure import KINDS, measure, seeded_split, summary
from privet.evaluation.tasks import TASKS

from privet.data import Graph
from privet.systems import LPGNN


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_measured_and_repeats(kind: str, system: LPGNN, graph: Graph) -> None:
    one, two = (measure(kind, system, graph, seed=3) for _ in range(2))
    assert 0.2 < one["test"] <= 1
    assert (one["test"], one["validation"]) == (two["test"], two["validation"])


def test_seeds_give_other_splits_of_the_papers_sizes(graph: Graph) -> None:
    one, two = (seeded_split(graph, seed).split for seed in (0, 1))
    assert (one.train != two.train).any()
    assert (one.train.sum(), one.validation.sum(), one.test.sum()) == (120, 60, 60)


def test_summary_is_in_per_cent() -> None:
    figures = summary([0.5, 0.7])
    assert figures["mean"] == pytest.approx(60)
    assert figures["std"] == pytest.approx(14.142, abs=1e-3)
    assert summary([0.5])["std"] == 0


def test_fewer_labels_leave_validation_and_test_as_they_are(graph: Graph) -> None:
    whole, tenth = (seeded_split(graph, 3, rate).split for rate in (0.5, 0.1))
    assert whole.train.sum() == graph.num_nodes // 2
    assert tenth.train.sum() == graph.num_nodes // 10
    assert not (tenth.train & ~whole.train).any()
    assert (tenth.validation == whole.validation).all()
    assert (tenth.test == whole.test).all()
    few, many = (TASKS["nodes"].measure("label_propagation", LPGNN(), graph, 3, label_rate=r) for r in (0.02, 0.5))
    assert few["test"] < many["test"]
