from __future__ import annotations

import json

import pytest

from privet.auditing.accounts import account_for, audit_claim, mechanism_from_options, print_account, print_audit
from privet.errors import InvalidParameter
from privet.mechanisms import MECHANISMS


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_has_an_account_and_an_audit_without_options(name: str, capsys: pytest.CaptureFixture) -> None:
    summary = account_for(mechanism_from_options(name, {}))
    assert json.loads(json.dumps(summary))["guarantee"]["epsilon"] > 0
    assert summary["bytes_per_report"] > 0
    print_account(summary)
    result = audit_claim(mechanism_from_options(name, {}, small=True), "own")
    assert result["holds"]
    print_audit(json.loads(json.dumps(result)))
    printed = capsys.readouterr().out
    assert "The claim holds." in printed
    assert summary["guarantee"]["unit"] in " ".join(printed.split())


def test_the_published_claim_and_a_number_can_be_checked() -> None:
    mechanism = mechanism_from_options("sampled-response", {})
    published = audit_claim(mechanism, "published")
    assert not published["holds"]
    assert published["claimed_epsilon"] == pytest.approx(1.434, abs=1e-3)
    assert published["enumerated_epsilon"] == pytest.approx(2.0)
    assert audit_claim(mechanism, "2.1")["holds"]
    assert not audit_claim(mechanism, "1.9")["holds"]


@pytest.mark.parametrize("claim", ["theirs", "-1", "nan", "inf"])
def test_other_claims_are_refused(claim: str) -> None:
    with pytest.raises(InvalidParameter, match="--claim"):
        audit_claim(mechanism_from_options("multi-bit", {}), claim)


def test_a_mechanism_without_a_published_figure_says_so() -> None:
    with pytest.raises(InvalidParameter, match="'own' or a number"):
        audit_claim(mechanism_from_options("multi-bit", {}), "published")


def test_unknown_names_and_options_list_the_known_ones() -> None:
    with pytest.raises(InvalidParameter, match="multi-bit, hds"):
        mechanism_from_options("multibit", {})
    with pytest.raises(InvalidParameter, match="an option of multi-bit: --epsilon, --dimension"):
        mechanism_from_options("multi-bit", {"classes": 3})
    with pytest.raises(InvalidParameter, match="separated by commas"):
        mechanism_from_options("sampled-response", {"categories": "2;2"})


def test_the_account_of_a_large_mechanism_is_cheap() -> None:
    summary = account_for(mechanism_from_options("multi-bit", {"dimension": 4714, "low": 0.0, "high": 1.0}))
    assert summary["bytes_per_report"] == 5
    lists = account_for(mechanism_from_options("adjacency-response", {"num_nodes": 22_470, "epsilon": 8.0}))
    assert lists["guarantee"]["unit"] == "neighbour list bit"
