from __future__ import annotations

import pytest

from privet.accounts.account import mechanism_from
from privet.auditing.central.audited_claim import PAPER_RUN
from privet.auditing.central.canary import CanaryAudit
from privet.auditing.local.enumeration import audit_claim
from privet.auditing.system_audit import SystemAudit
from privet.cli.render.guarantees import print_audit
from privet.mechanisms import MECHANISMS


@pytest.mark.parametrize(("claim", "verdict"), [("own", "The claim holds."), ("published", "The claim is broken.")])
def test_a_mechanism_s_verdict(claim: str, verdict: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_audit(audit_claim(mechanism_from(MECHANISMS["sampled-response"], {}), claim))
    assert verdict in capsys.readouterr().out


@pytest.mark.parametrize(("lower", "verdict"), [(0.5, "holds against this attack"), (2.5, "The claim is broken")])
def test_a_system_s_verdict(lower: float, verdict: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = CanaryAudit(
        process=PAPER_RUN,
        noise="sml",
        noise_multiplier=24.0,
        claim=2.0,
        claimed_by="the paper",
        delta=1e-5,
        epsilon_lower=lower,
        projection_epsilon_lower=0.4,
        confidence=0.95,
        runs=100,
        dimension=32,
    )
    print_audit(SystemAudit("heterpoisson", found))
    printed = capsys.readouterr().out
    assert verdict in printed
    assert "the paper" in printed
