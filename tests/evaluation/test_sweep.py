from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from privet.reporting.sweep_plot import plot_sweep

from privet.data import Graph
from privet.errors import InvalidParameter
from privet.evaluation import sweep
from privet.evaluation.cache import Store
from privet.evaluation.sweep import budget_field, half_width, parse_epsilons, print_sweep, run_sweep

QUICK = {"hops": 1, "max_epochs": 3}


def run(graph: Graph, store: Store, seeds: int = 2, **changed) -> dict:
    return run_sweep("lpgnn", graph, "tiny", "epsilon_features", (0.5, 2.0), QUICK, seeds, store, **changed)


def test_budgets_are_numbers_above_zero() -> None:
    assert parse_epsilons("4,0.5,4") == (0.5, 4.0)
    for wrong in ("", "1,x", "0,1", "-1", "inf", "nan"):
        with pytest.raises(InvalidParameter, match="comma separated"):
            parse_epsilons(wrong)


def test_which_budget_is_swept() -> None:
    assert budget_field("lpgnn", None) == "epsilon_features"
    assert budget_field("solitude", "edges") == "epsilon_edges"
    assert budget_field("heterpoisson", None) == "epsilon"
    with pytest.raises(InvalidParameter, match="left out"):
        budget_field("gap", "labels")
    with pytest.raises(InvalidParameter, match="features, labels, edges"):
        budget_field("lpgnn", "names")


def test_intervals_hold_the_mean_as_often_as_they_say() -> None:
    """Of 4,000 intervals 95 % hold it: 0.34 % standard error, so a correct program fails with probability 1e-4."""
    draws = np.random.default_rng(0).normal(3.0, 2.0, size=(4_000, 4))
    held = np.mean([abs(row.mean() - 3.0) <= half_width(row.tolist()) for row in draws])
    assert abs(held - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 4_000)
    assert half_width([84.0, 85.0, 86.0]) == pytest.approx(4.302653 / math.sqrt(3), abs=1e-5)  # t for 2 degrees
    assert half_width([5.0]) is None


def test_a_sweep_goes_on_where_it_stopped(graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, real, calls = Store(tmp_path), sweep.run_system, []

    def interrupted(*arguments, **options):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(sweep, "run_system", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(graph, store)
    done: list[int] = []
    first = run(graph, store, done=lambda: done.append(1))
    assert len(calls) == 3  # the first point was not measured again
    assert len(done) == 2 * 2 * 5  # but is counted: 2 points, 2 seeds, 5 kinds of figure
    assert run(graph, store) == json.loads(json.dumps(first))
    assert len(calls) == 3
    run(graph.replace(labels=(graph.labels + 1) % 3), store)  # other data under the same name
    assert len(calls) == 5


def test_points_are_results_of_their_budget(graph: Graph, tmp_path: Path) -> None:
    result = run(graph, Store(tmp_path))
    assert [point["guarantee"]["epsilon"] for point in result["points"]] == [0.5, 2.0]
    assert [point["settings"]["epsilon_features"] for point in result["points"]] == result["epsilons"]
    assert result["half_widths"] == [half_width(point["values"]) for point in result["points"]]
    assert all(point["controls"] and point["verdict"] for point in result["points"])
    with pytest.raises(InvalidParameter, match="left to the sweep"):
        run_sweep("lpgnn", graph, "tiny", "epsilon_features", (1.0,), {"epsilon_features": 2.0}, 1, Store(tmp_path))


def test_what_is_shown(graph: Graph, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    several, one = run(graph, Store(tmp_path)), run(graph, Store(tmp_path), seeds=1)
    print_sweep(several)
    assert "95% confidence interval" in capsys.readouterr().out
    print_sweep(one)
    printed = capsys.readouterr().out
    assert "One seed" in printed
    assert "+-" not in printed
    for name, result in (("several", several), ("one", one)):
        for again in ("", "-again"):
            plot_sweep(result, tmp_path / f"{name}{again}.svg")
        drawn = (tmp_path / f"{name}.svg").read_text()
        assert drawn == (tmp_path / f"{name}-again.svg").read_text()
        assert ("one seed, no intervals" in drawn) == (name == "one")
        assert "lpgnn on tiny" in drawn


def test_central_systems_are_swept_by_the_models_epsilon(graph: Graph, tmp_path: Path) -> None:
    quick = {"batch_size": 40, "epochs": 1.0, "hidden_channels": 8, "multiplier": 0.0}
    result = run_sweep("heterpoisson", graph, "tiny", "epsilon", (2.0,), quick, 1, Store(tmp_path), controls=False)
    assert 1.9 < result["points"][0]["guarantee"]["epsilon"] <= 2.0
