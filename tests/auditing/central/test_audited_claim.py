"""The claim that audits try to refute."""

import math

import pytest

from privet.auditing.central.audited_claim import PAPER_NOISE_MULTIPLIER, PAPER_RUN, AuditedClaim


def test_gaussian_noise_is_claimed_by_the_accountant_and_sml_noise_by_its_paper() -> None:
    ours, theirs = (AuditedClaim.of(PAPER_RUN, None, noise, None) for noise in ("gaussian", "sml"))
    assert ours.noise_multiplier == theirs.noise_multiplier == PAPER_NOISE_MULTIPLIER
    assert (ours.claimed_by, round(ours.claim, 2)) == ("the accountant", 0.86)
    assert theirs.claim == pytest.approx(2.0, abs=0.01)
    assert "paper" in theirs.claimed_by
    assert ours.delta == pytest.approx(PAPER_RUN.num_nodes**-1.1)


def test_a_claim_is_refuted_by_a_larger_lower_bound_only() -> None:
    claim = AuditedClaim.of(PAPER_RUN, 24.0, "gaussian", 1e-5)
    assert not claim.broken
    assert AuditedClaim(**claim.facts(), epsilon_lower=claim.claim + 0.1).broken
    assert AuditedClaim(**claim.facts(), epsilon_lower=claim.claim / 2).closeness == pytest.approx(0.5)
    nothing = {**claim.facts(), "claim": 0.0}
    assert AuditedClaim(**nothing).closeness == math.inf
    assert AuditedClaim(**claim.facts()).to_dict()["steps"] == PAPER_RUN.steps
