from __future__ import annotations

import pytest

from privet.auditing.canary import PAPER_RUN, CanaryAudit
from privet.auditing.claims import audit_claim
from privet.auditing.parameters import mechanism_from
from privet.auditing.system_audit import SystemAudit
from privet.cli.render.audit import print_audit
from privet.mechanisms import MECHANISMS


@pytest.mark.parametrize(("claim", "verdict"), [("own", "The claim holds."), ("published", "The claim is broken.")])
def test_a_mechanism_s_verdict(claim: str, verdict: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_audit(audit_claim(mechanism_from(MECHANISMS["sampled-response"], {}), claim))
    assert verdict in capsys.readouterr().out


@pytest.mark.parametrize(("lower", "verdict"), [(0.5, "holds against this attack"), (2.5, "The claim is broken")])
def test_a_system_s_verdict(lower: float, verdict: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = CanaryAudit(PAPER_RUN, "sml", 24.0, 2.0, "the paper", 1e-5, lower, 0.4, 0.95, 100, 32)
    print_audit(SystemAudit("heterpoisson", found))
    printed = capsys.readouterr().out
    assert verdict in printed
    assert "the paper" in printed
