from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from privet.data import Graph
from privet.errors import InvalidParameter
from privet.evaluation import sweep
from privet.evaluation.cache import Store
from privet.systems import LPGNN, HeterPoisson
from privet.systems.controls import NON_PRIVATE

QUICK = LPGNN(hops=1, max_epochs=3)


def test_points_are_results_of_their_budget(graph: Graph) -> None:
    curve = sweep(QUICK, graph, (2.0, 0.5), seeds=2)
    assert curve.budget == "epsilon_features"
    assert curve.epsilons == (0.5, 2.0)
    assert [point.guarantee.epsilon for point in curve.points] == [0.5, 2.0]
    assert all(point.controls and point.verdict for point in curve.points)


def test_controls_that_do_not_depend_on_the_budget_are_measured_once(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: Counter[str] = Counter()
    real = type(NON_PRIVATE).trained

    def counted(self, system, view, seed):
        trained[self.key] += 1
        return real(self, system, view, seed)

    monkeypatch.setattr(type(NON_PRIVATE), "trained", counted)
    sweep(QUICK, graph, (0.5, 1.0, 2.0), seeds=1)
    once = {"structure_only": 1, "structure": 1, "label_propagation": 1, "majority": 1, "non_private": 1, "ceiling": 1}
    assert trained == {"private": 3, "features_only": 3, **once}


def test_a_sweep_goes_on_where_it_stopped(graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, real = [], LPGNN.fit

    def interrupted(*arguments, **options):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(LPGNN, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sweep(QUICK, graph, (0.5, 2.0), seeds=1, store=Store(tmp_path))
    stored = len(list(tmp_path.iterdir()))
    assert stored >= 2
    first = sweep(QUICK, graph, (0.5, 2.0), seeds=1, store=Store(tmp_path))
    total = len(calls)
    again = sweep(QUICK, graph, (0.5, 2.0), seeds=1, store=Store(tmp_path))
    assert len(calls) == total
    assert [point.values for point in again.points] == [point.values for point in first.points]


def test_which_budget_is_swept(graph: Graph) -> None:
    labels = sweep(QUICK, graph, (1.0,), budget="epsilon_labels", seeds=1, controls=False)
    assert labels.points[0].guarantee.epsilon == 2.0
    central = HeterPoisson(noise_multiplier=2.0, batch_size=40, epochs=1.0, hidden_channels=8, multiplier=0.0)
    curve = sweep(central, graph, (2.0,), seeds=1, controls=False)
    assert curve.budget == "target_epsilon"
    assert 1.9 < curve.points[0].guarantee.epsilon <= 2.0
    made = sweep(lambda e: LPGNN(hops=int(e), max_epochs=2, epsilon_features=e), graph, (1.0, 2.0), seeds=1)
    assert [point.settings["hops"] for point in made.points] == [1, 2]


def test_bad_budgets(graph: Graph) -> None:
    for wrong in ((), (0.0, 1.0), (-1.0,)):
        with pytest.raises(InvalidParameter, match="above 0"):
            sweep(QUICK, graph, wrong)
