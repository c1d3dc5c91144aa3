from __future__ import annotations

import json
from typing import Any

import pytest

from privet.accounts.account import account
from privet.accounts.systems import account_central
from privet.errors import InvalidParameter
from privet.systems import SYSTEMS

STEPS: dict[str, Any] = {"rate": 0.2, "steps": 5, "num_nodes": 60}

CENTRAL = {name: kind for name, kind in SYSTEMS.items() if kind.model == "central"}


@pytest.mark.parametrize(
    ("name", "parameters", "epsilon"),
    [
        ("lpgnn", {"epsilon_features": 1.0, "epsilon_labels": 2.0}, 3.0),
        ("privge", {"epsilon_features": 0.5}, 0.5),
        ("rgnn", {"epsilon_features": 10.0, "epsilon_labels": 3.0, "dimension": 20}, 13.0),
        ("solitude", {"epsilon_features": 1.0, "epsilon_edges": 7.0}, 15.0),
    ],
)
def test_local_budgets_add(name: str, parameters: dict[str, Any], epsilon: float) -> None:
    document = json.loads(json.dumps(account(name, parameters).to_dict()))
    assert document["guarantee"]["epsilon"] == pytest.approx(epsilon)
    assert "odds" in document["in_words"]


@pytest.mark.parametrize("kind", CENTRAL.values(), ids=CENTRAL)
def test_central_figures_are_the_process_s(kind: Any) -> None:
    found = account_central(kind, noise_multiplier=20.0, delta=1e-4, **STEPS)
    process = kind.process_kind(**STEPS)
    assert found.guarantee.epsilon == process.epsilon(20.0, 1e-4)
    document = json.loads(json.dumps(found.to_dict()))
    assert document["sigma"] == 10.0
    assert document["guarantee"]["adjacency"] == process.adjacency
    assert (document["epsilon"], document["delta"]) == (found.guarantee.epsilon, 1e-4)


def test_heterpoisson_keeps_its_keys_and_its_claim_is_not_the_guarantee_s() -> None:
    document = account("heterpoisson", {"noise_multiplier": 6.0, **STEPS}).to_dict()
    assert {"epsilon", "k_revealed_epsilon", "published_epsilon", "worst_out_degree", "sigma", "delta"} <= set(document)
    assert document["epsilon"] <= document["k_revealed_epsilon"]
    assert document["guarantee"]["published_epsilon"] is None
    assert "SML" in document["claim"]
    assert "2311.06888" in document["claim"]


@pytest.mark.parametrize(("multiplier", "public"), [(0.0, False), (1.0, True)])
def test_degrees_are_public_where_the_sampler_reads_them(multiplier: float, public: bool) -> None:
    found = account("heterpoisson", {"noise_multiplier": 20.0, "multiplier": multiplier, **STEPS})
    assert ("degree" in str(found.guarantee)) is public


def test_a_perceptron_has_no_sub_graphs_no_public_degrees_and_no_paper() -> None:
    document = account("smoothed-mlp", {"noise_multiplier": 6.0, **STEPS}).to_dict()
    assert "published_epsilon" not in document
    assert "degree" not in str(document)


def test_a_target_is_never_exceeded() -> None:
    document = account("gap", {"target_epsilon": 2.0, "max_degree": 3, **STEPS}).to_dict()
    assert 1.9 < document["epsilon"] <= 2.0
    assert document["delta"] == 1 / 600
    assert account("gap", {"noise_multiplier": 9.0, "delta": "paper", **STEPS}).to_dict()["delta"] == 60**-1.1


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("gcn", {}, "multi-bit.*lpgnn.*heterpoisson"),
        ("lpgnn", {"noise_multiplier": 1.0}, "lpgnn has no parameter 'noise_multiplier'; it has"),
        ("heterpoisson", {"noise_multiplier": 1.0, "rate": 0.1, "steps": 3}, "num_nodes"),
        ("heterpoisson", STEPS, "needs one of 'noise_multiplier' and 'target_epsilon'"),
        (
            "smoothed-mlp",
            {**STEPS, "noise_multiplier": 1.0, "multiplier": 3.0},
            "smoothed-mlp has no parameter 'multiplier'",
        ),
        ("heterpoisson", {**STEPS, "noise_multiplier": 1.0, "target_epsilon": 1.0}, "needs only one of"),
        ("heterpoisson", {**STEPS, "target_epsilon": 1.0, "noise": "sml"}, "the only noise that is calibrated"),
        ("heterpoisson", {**STEPS, "noise_multiplier": 0.0}, "nothing is promised"),
        ("private-mlp", {**STEPS, "noise_multiplier": 1.0, "delta": "papers"}, "delta must be"),
        ("ndp", {**STEPS, "noise_multiplier": 9.0, "noise": "sml"}, "noise must be gaussian, not sml"),
    ],
)
def test_bad_parameters_are_named(name: str, parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        account(name, parameters)


def test_an_aggregator_s_line_stands_beside_the_local_one() -> None:
    found = account("inquiry", {"epsilon_features": 2.0, "class_sums": 1.0, "num_nodes": 50_000})
    assert 2.9 < found.guarantee.epsilon <= 3.0  # labelled people may pay both
    local, central = found.to_dict()["ledger"]
    assert (local["epsilon"], local["delta"]) == (2.0, 0.0)
    assert central["part"] == "class sums (central)"
    assert 0.9 < central["epsilon"] <= 1.0
    assert central["delta"] > 0


def test_who_asks_for_nothing_promises_it() -> None:
    document = account("structure", {}).to_dict()
    assert document["guarantee"]["epsilon"] == 0
    assert document["in_words"].startswith("Nothing is asked of anybody")
    assert "ledger" not in document
    assert account("structure", {"epsilon_labels": 1.0}).to_dict()["ledger"][0]["part"] == "label"


def test_both_endpoints_may_report() -> None:
    one, two = (account("solitude", {"epsilon_edges": 7.0, "one_sided": each}) for each in (True, False))
    assert one.guarantee.relationship_epsilon == two.guarantee.relationship_epsilon == 14.0


def test_class_sums_are_not_called_local() -> None:
    found = account("inquiry", {"epsilon_features": 1.0, "class_sums": 1.0, "num_nodes": 2000})
    assert found.guarantee.model == "hybrid"
    assert found.guarantee.trust == "local model, but for people whose data a trusted aggregator sees"
    assert found.guarantee.epsilon <= 2.0
    by_two = account("inquiry", {"epsilon_features": 1.0, "server_sums": 1.0, "num_nodes": 2000}).guarantee
    assert (by_two.model, by_two.trust) == ("two servers", "model of two servers that do not work together")
    assert by_two.epsilon <= 2.0
