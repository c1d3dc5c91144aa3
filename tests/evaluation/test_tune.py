from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from privet.data import Graph, Schema
from privet.errors import InvalidParameter
from privet.evaluation.sweep import tune
from privet.systems import LPGNN, SYSTEMS, HeterPoisson


@dataclass(frozen=True, kw_only=True)
class Quick(LPGNN):
    search_space: ClassVar[dict[str, list[Any]]] = {"hops": [0, 4], "dropout": [0.0]}
    max_epochs: int = 15


@pytest.mark.parametrize("epsilon_labels", [None, 2.0])
def test_the_best_trial_is_chosen(graph: Graph, epsilon_labels: float | None) -> None:
    pytest.importorskip("optuna")
    system = Quick(epsilon_features=2.0, epsilon_labels=epsilon_labels)
    chosen, trials = tune(system, graph, 3)
    best = max(trials, key=lambda trial: trial["validation"])
    assert chosen.hops == best["hops"]
    assert len(trials) == 3
    again, _ = tune(system, graph, 3)
    assert again == chosen


def test_test_labels_do_not_matter(graph: Graph) -> None:
    """The tuning split is its own: garbling the labels of its test nodes changes no trial."""
    pytest.importorskip("optuna")
    from privet.evaluation.scoring import with_split

    labels = graph.labels.copy()
    test = with_split(Quick(), graph, 1000).split.test
    labels[test] = (labels[test] + 1) % 3
    system = Quick(epsilon_features=2.0)
    assert tune(system, graph, 2)[1] == tune(system, graph.replace(labels=labels), 2)[1]


LOCAL = [kind for kind in SYSTEMS.values() if kind.model == "local"]


@pytest.mark.parametrize("kind", LOCAL, ids=lambda kind: kind.name)
def test_a_search_never_asks_devices_again(kind) -> None:
    """Another mechanism would be another report, for which nobody budgeted."""
    schema = Schema.categorical([2] * 20, classes=3) if kind.name == "rgnn" else Schema.numeric(20, 0.0, 1.0, classes=3)
    for name, values in kind.search_space.items():
        assert {kind(**{name: value}).feature_mechanism(schema) for value in values} == {
            kind().feature_mechanism(schema)
        }


def test_no_trials_are_refused(graph: Graph) -> None:
    pytest.importorskip("optuna")
    with pytest.raises(InvalidParameter, match="at least 1"):
        tune(Quick(), graph, 0)


def test_a_search_on_protected_data_is_refused(graph: Graph) -> None:
    pytest.importorskip("optuna")
    with pytest.raises(InvalidParameter, match="a local system"):
        tune(HeterPoisson(noise_multiplier=1.0), graph, 1)
