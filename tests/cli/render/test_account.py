from __future__ import annotations

import pytest

from privet.accounts.account import account
from privet.cli.render.guarantees import print_account
from privet.mechanisms import MECHANISMS


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.replace("│", " ").split())


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_s_account_names_its_unit(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = account(name, {})
    print_account(found)
    assert str(found.guarantee.unit) in printed(capsys)


def test_a_claim_is_printed_with_its_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    print_account(account("heterpoisson", {"noise_multiplier": 20.0, "rate": 0.2, "steps": 2, "num_nodes": 60}))
    text = printed(capsys)
    assert "for SML noise of the same sigma" in text
    assert "mixture of Gaussians" in text
    assert "without the node" in text
    assert "sigma 10 (noise multiplier 20)" in text


def test_a_local_system_s_odds_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    print_account(account("lpgnn", {"epsilon_features": 1.0}))
    assert "odds" in printed(capsys)


def test_the_parts_of_a_central_figure_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    print_account(account("heterpoisson", {"noise_multiplier": 20.0, "rate": 0.2, "steps": 2, "num_nodes": 60}))
    text = printed(capsys)
    assert "out-degree 1, the worst, in 2 steps" in text
    assert "grid, tables and coins" in text
    assert "99.9% runs in which the privacy loss exceeds epsilon" in text
    assert "0.20 central listeners on average" in text


def test_each_question_s_price_is_printed_with_its_unit(capsys: pytest.CaptureFixture[str]) -> None:
    print_account(account("solitude", {"epsilon_features": 1.0, "epsilon_edges": 7.0}))
    text = printed(capsys)
    assert "93.3% neighbour list by adjacency-response, for one relationship" in text
    assert "6.7% features by multi-bit, for one feature vector" in text
