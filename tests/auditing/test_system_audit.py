from __future__ import annotations

import json

import pytest

from privet.auditing.system_audit import audit_system, print_system_audit
from privet.errors import InvalidParameter

QUICK = {"rate": 0.2, "steps": 2, "nodes": 500, "sigma": 3.0, "runs": 2000}


def test_true_noise_holds_and_the_papers_is_reported_with_its_claim(capsys: pytest.CaptureFixture) -> None:
    result = json.loads(json.dumps(audit_system("heterpoisson", QUICK)))
    assert not result["broken"]
    assert 0 <= result["epsilon_lower"] < result["claim"]
    print_system_audit(result)
    assert "holds against this attack" in capsys.readouterr().out


def test_a_broken_claim_is_said_to_be_broken(capsys: pytest.CaptureFixture) -> None:
    result = {**audit_system("heterpoisson", QUICK), "broken": True, "noise": "sml"}
    print_system_audit(result)
    assert "The claim is broken" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("lpgnn", {}, "multi-bit.*heterpoisson"),
        ("heterpoisson", {"noise": "laplace"}, "gaussian or sml"),
        ("heterpoisson", {"classes": 3}, "option of heterpoisson"),
    ],
)
def test_bad_options_are_named(name: str, options: dict, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        audit_system(name, options)
