from __future__ import annotations

import json

import pytest

from privet.accounts.account import mechanism_from
from privet.auditing.local.enumeration import audit_claim
from privet.errors import InvalidParameter
from privet.mechanisms import MECHANISMS


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_s_own_claim_holds(name: str) -> None:
    found = audit_claim(mechanism_from(MECHANISMS[name], {}, small=True))
    assert not found.broken
    assert json.loads(json.dumps(found.to_dict()))["holds"]


def test_the_published_claim_and_a_number_can_be_checked() -> None:
    mechanism = mechanism_from(MECHANISMS["sampled-response"], {})
    published = audit_claim(mechanism, "published")
    assert published.broken
    assert published.found.claim == pytest.approx(1.434, abs=1e-3)
    assert published.found.epsilon == pytest.approx(2.0)
    assert not audit_claim(mechanism, "2.1").broken
    assert audit_claim(mechanism, "1.9").broken


@pytest.mark.parametrize("claim", ["theirs", "-1", "nan", "inf"])
def test_other_claims_are_refused(claim: str) -> None:
    with pytest.raises(InvalidParameter, match="claim must be"):
        audit_claim(mechanism_from(MECHANISMS["multi-bit"], {}), claim)


def test_a_mechanism_without_a_published_figure_says_so() -> None:
    with pytest.raises(InvalidParameter, match="'own' or a number"):
        audit_claim(mechanism_from(MECHANISMS["multi-bit"], {}), "published")
