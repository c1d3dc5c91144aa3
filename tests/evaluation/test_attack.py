from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from privet.auditing.attacks import recruit
from privet.data import Graph, social_graph
from privet.errors import InvalidParameter
from privet.evaluation.attack import Attack, attack, figures_needed
from privet.evaluation.cache import Store
from privet.evaluation.damage import DamageCurve
from privet.systems import GAP, LPGNN, Inquiry, Solitude


def village() -> Graph:
    return social_graph(120, classes=3, average_degree=8, features=6, seed=0)


def quick() -> Solitude:
    return Solitude(epsilon_edges=6.0, max_epochs=4)


def test_lies_about_friends_do_harm_and_trimming_helps(tmp_path: Path) -> None:
    steps: list[str] = []
    store, system = Store(tmp_path), Inquiry(epsilon_edges=1.0)
    graph = social_graph(400, classes=3, average_degree=8, features=6, seed=0)
    curve = attack(system, graph, [0.1], seeds=1, defence=("trim",), store=store, progress=steps.append)
    point = curve.points[0]
    assert point.loss > 20
    assert point.regained is not None
    assert point.regained > 0.5
    assert len(steps) == figures_needed(1, 1, defence=True) == figures_needed(1, 2, defence=True) / 2 == 3
    again = attack(system, graph, [0.1], seeds=1, defence=("trim",), store=store)
    assert again.to_dict() == curve.to_dict()
    assert DamageCurve.from_dict(curve.to_dict()).to_dict() == curve.to_dict()


@pytest.mark.parametrize("kind", ["report", "sleeper", "input", "friends", "accounts"])
def test_every_kind_is_measured(kind: str) -> None:
    curve = attack(quick(), village(), [0.05], Attack(kind=kind), seeds=1)
    assert 0 <= curve.points[0].attacked.mean <= 100
    assert curve.kind == kind


@pytest.mark.parametrize("goal", ["person", "class"])
def test_goals_about_predictions(goal: str) -> None:
    curve = attack(quick(), village(), [0.1], Attack(goal=goal, target=1), seeds=2, random=False)
    assert curve.points[0].random is None
    assert 0 <= curve.points[0].attacked.mean <= 100
    if goal == "person":
        assert curve.points[0].honest.mean == 100


def test_a_frequency_is_moved_by_at_most_the_influence() -> None:
    graph, system = village(), LPGNN(max_epochs=2)
    point = attack(system, graph, [0.1], Attack(goal="frequency", target=2), seeds=1).points[0]
    mechanism = system.release(graph).questions[0].mechanism
    moved = point.attacked.mean - point.honest.mean
    assert 0 < moved <= 0.1 * mechanism.influence() / mechanism.span + 1e-9


def test_liars_are_not_counted_among_the_harmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Predictions that are wrong for liars only are no damage."""
    graph = village()
    liars = recruit(graph, 0.2, seed=0)
    truth = graph.labels.copy()
    wrong = truth.copy()
    wrong[liars] = (wrong[liars] + 1) % 3
    predicted = iter([truth, wrong])
    monkeypatch.setattr("privet.evaluation.attack._Games._predictions", lambda *_: next(predicted))
    point = attack(quick(), graph, [0.2], seeds=1, random=False).points[0]
    assert (point.honest.mean, point.attacked.mean) == (100.0, 100.0)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"shares": []}, "between 0 and 1"),
        ({"shares": [1.0]}, "between 0 and 1"),
        ({"seeds": 0}, "at least 1"),
        ({"system": GAP(noise_multiplier=1.0)}, "needs a local system"),
        ({"defence": ("pray",)}, "screen, agree, bound"),
    ],
)
def test_wrong_plans_are_refused(change: dict, match: str) -> None:
    given = {"system": quick(), "graph": village(), "shares": [0.1], **change}
    with pytest.raises(InvalidParameter, match=match):
        attack(**given)


def test_a_split_of_its_own_is_respected() -> None:
    curve = attack(quick(), village(), [0.1], seeds=[4], split=(0.3, 0.2), random=False)
    assert curve.seeds == (4,)
    assert np.isfinite(curve.points[0].loss)
