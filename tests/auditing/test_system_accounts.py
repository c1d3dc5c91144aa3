from __future__ import annotations

import json

import pytest

from privet.auditing.system_accounts import account_system, print_system_account
from privet.errors import InvalidParameter
from privet.privacy.accounting import node_level

STEPS = {"rate": 0.2, "steps": 20, "nodes": 500}


@pytest.mark.parametrize(
    ("name", "options", "epsilon"),
    [
        ("lpgnn", {"epsilon_features": 1.0, "epsilon_labels": 2.0}, 3.0),
        ("privge", {"epsilon_features": 0.5}, 0.5),
        ("rgnn", {"epsilon_features": 10.0, "epsilon_labels": 3.0, "dimension": 20}, 13.0),
        ("solitude", {"epsilon_features": 1.0, "epsilon_edges": 7.0}, 8.0),
    ],
)
def test_local_budgets_add(name: str, options: dict, epsilon: float, capsys: pytest.CaptureFixture) -> None:
    summary = json.loads(json.dumps(account_system(name, options)))
    assert summary["guarantee"]["epsilon"] == pytest.approx(epsilon)
    print_system_account(summary)
    assert "odds" in capsys.readouterr().out


def test_central_figures_are_the_accountants(capsys: pytest.CaptureFixture) -> None:
    summary = account_system("heterpoisson", {"sigma": 3.0, **STEPS, "delta": 1e-4})
    assert summary["epsilon"] == node_level.epsilon(3.0, 0.2, 1.0, 20, 1e-4, 500)
    assert {"k_revealed_epsilon", "published_epsilon", "worst_out_degree"} <= set(summary)
    print_system_account(summary)
    assert "without the node" in " ".join(capsys.readouterr().out.replace("│", " ").split())
    # A perceptron that sees no edge has no sub-graphs to be picked for, no public degrees and no paper.
    graphless = account_system("smoothed-mlp", {"sigma": 3.0, **STEPS, "delta": 1e-4})
    assert graphless["epsilon"] < summary["epsilon"]
    assert graphless["guarantee"]["published_epsilon"] is None
    assert "degree" not in str(graphless)
    print_system_account(graphless)


def test_a_target_is_never_exceeded() -> None:
    summary = account_system("heterpoisson", {"target_epsilon": 2.0, **STEPS})
    assert 1.9 < summary["epsilon"] <= 2.0
    assert summary["delta"] == pytest.approx(500**-1.1)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("gcn", {}, "multi-bit.*lpgnn.*heterpoisson"),
        ("lpgnn", {"sigma": 1.0}, "option of lpgnn"),
        ("heterpoisson", {"sigma": 1.0, "rate": 0.1, "steps": 3}, "--nodes"),
        ("heterpoisson", STEPS, "neither"),
        ("smoothed-mlp", {**STEPS, "sigma": 1.0, "multiplier": 3.0}, "option of smoothed-mlp"),
        ("heterpoisson", {**STEPS, "sigma": 1.0, "target_epsilon": 1.0}, "both"),
        ("heterpoisson", {**STEPS, "sigma": 1.0, "classes": 3}, "option of heterpoisson"),
    ],
)
def test_bad_options_are_named(name: str, options: dict, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        account_system(name, options)


def test_both_endpoints_may_report() -> None:
    one, two = (account_system("solitude", {"epsilon_edges": 7.0, **more}) for more in ({}, {"two_sided": True}))
    assert "costs this epsilon: 7" in str(one)
    assert "twice this epsilon of one list: 14" in str(two)
