from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from privet.data import Graph, social_graph, split_nodes
from privet.evaluation import evaluate
from privet.mechanisms import SeededBits
from privet.systems.local.inquiry import Inquiry
from privet.systems.local.inquiry.controls import dealt

KEYS = ["structure", "panel_only", "dealt_answers", "noise_free", "features_only", "majority"]
FRIENDS = {"epsilon_edges": 4.0, "epsilon_features": None}


@pytest.fixture(scope="module")
def graph() -> Graph:
    graph = social_graph(400, classes=3, average_degree=6, homophily=0.6, features=12, feature_signal=0.9, seed=0)
    return graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))


def view(graph: Graph, system: Inquiry) -> Graph:
    return graph.replace(schema=replace(graph.schema, private_edges=system.hides_edges))


@pytest.mark.parametrize(
    "settings",
    [
        {"panel": 0.2, "epsilon_features": 4.0},
        {"pilot": 0.3, "epsilon_features": 4.0},
        FRIENDS,
        {**FRIENDS, "public_features": True},
        {"epsilon_edges": 4.0, "epsilon_features": 4.0},
        {"epsilon_person": 4.0, "panel": 0.2},
        {"epsilon_person": 4.0, "reads": "friends", "waves": 2},
    ],
)
def test_every_control_is_trained_and_none_beats_no_noise_by_much(
    settings: dict[str, Any], graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("privet.estimation.priors.feature_prior._EPOCHS", 25)  # enough for features as clear as these
    system = Inquiry(**settings)
    seen = view(graph, system)
    found = {}
    for control in system.controls():
        trained = control.trained(system, seen, 3)
        found[control.key] = float((trained.predict() == graph.labels)[graph.split.test].mean())
    whole = system.epsilon_person is not None and system.reads == "everything"
    assert list(found) == [*KEYS[:-1], *(["friends_only"] if whole else []), KEYS[-1]]
    assert found["noise_free"] > found["majority"] + 0.1
    if not system.public_features:  # which say nearly everything here
        assert found["noise_free"] > found["dealt_answers"] + 0.1
    assert found["noise_free"] >= max(found.values()) - 0.05


@pytest.mark.parametrize("settings", [{"pilot": 0.3, "epsilon_features": 4.0}, FRIENDS], ids=["pilot", "friends"])
def test_every_control_repeats(settings: dict[str, Any], graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("privet.estimation.priors.feature_prior._EPOCHS", 2)
    system = Inquiry(**settings)
    for control in system.controls():
        one, two = (control.trained(system, view(graph, system), 3).predict_proba() for _ in range(2))
        assert np.array_equal(one, two)


def test_a_result_holds_the_controls_and_the_share_of_people_who_were_asked(graph: Graph) -> None:
    result = evaluate(Inquiry(panel=0.2, epsilon_features=4.0), graph, 1)
    assert [key for key in result.controls if key != "ceiling"] == KEYS
    assert result.mean > result.controls["dealt_answers"].mean


def test_dealt_answers_are_the_same_answers_of_other_people(graph: Graph) -> None:
    system = Inquiry(panel=0.2, epsilon_features=1.0, seed=0)
    answers = system.collect(graph, SeededBits(0)).answers
    part, ask = answers["resemblance"], answers.release.question("resemblance").ask
    found = dealt(answers, np.random.default_rng(0))["resemblance"]
    assert np.array_equal(found.users, part.users)
    mechanism = answers.release.question("resemblance").mechanism
    positions, options = mechanism.decode(found.reports)
    assert np.array_equal(options, ask.options()[part.users])  # as many options as each was offered
    before, _ = mechanism.decode(part.reports)
    assert np.array_equal(np.bincount(positions), np.bincount(before))
    assert not np.array_equal(positions, before)


def test_friends_are_dealt_among_people_of_one_rank(graph: Graph) -> None:
    system = Inquiry(**FRIENDS, seed=0)
    answers = system.collect(view(graph, system), SeededBits(0)).answers
    found = dealt(answers, np.random.default_rng(0))
    for name in ("friends", "friends-again"):
        part, ranks = answers[name], answers.release.question(name).ask.attachment("ranks")
        assert not np.array_equal(found[name].reports.symbols, part.reports.symbols)
        for rank in np.unique(ranks[part.users]):
            rows = ranks[part.users] == rank
            ours, theirs = (np.sort(each.reports.symbols[rows].sum(axis=1)) for each in (part, found[name]))
            assert np.array_equal(ours, theirs)


def test_labels_and_a_pilot_stay_as_they_are(graph: Graph) -> None:
    system = Inquiry(pilot=0.3, epsilon_labels=2.0, seed=0)
    answers = system.collect(graph, SeededBits(0)).answers
    found = dealt(answers, np.random.default_rng(0))
    for name in ("label", "features"):
        assert found[name] is answers[name]


@pytest.mark.parametrize("settings", [{"panel": 0.2}, {"scorer": np.ones((13, 3))}, {"panel": tuple(range(9))}])
def test_figures_that_do_not_depend_on_the_budget_have_one_subject(settings: dict[str, Any]) -> None:
    systems = [Inquiry(**settings, epsilon_features=budget) for budget in (0.5, 4.0)]
    for key in ("structure", "noise_free", "majority"):
        one, two = (next(c for c in system.controls() if c.key == key).subject(system) for system in systems)
        assert one == two
    kept = [next(c for c in system.controls() if c.key == "dealt_answers").subject(system) for system in systems]
    assert kept[0] != kept[1]
