from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import pytest

from privet.auditing.local import person_audit
from privet.auditing.local.person_audit import audit_person
from privet.errors import InvalidParameter, UnknownParameter
from privet.mechanisms import OfferedResponse
from privet.mechanisms.primitives.odds import Odds, odds


@pytest.mark.parametrize("mechanism", [{}, {"mechanism": "subset-response", "sizes": (1, 1, 2)}])
@pytest.mark.parametrize(("reads", "unit"), [("everything", "person"), ("friends", "friend list")])
def test_no_dishonest_server_gets_more_than_the_ledger_charges(reads: str, unit: str, mechanism: dict) -> None:
    found = audit_person(epsilon=1.5, reads=reads, servers=40, **mechanism)
    assert not found.broken
    assert (found.unit, found.servers, found.states) == (unit, 40, 72)
    assert 0.9999 * 1.5 < found.friend <= found.largest <= 1.5  # isolating a friend reaches the price, and no more
    assert 2.9999 < found.relationship <= found.relationship_claim == 3.0
    assert json.loads(json.dumps(found.to_dict()))["broken"] is False


def test_features_alone_tell_nothing_about_friends() -> None:
    found = audit_person(reads="features", servers=30)
    assert (found.friend, found.relationship_claim, found.broken) == (0.0, 0.0, False)
    assert found.largest > 0.999


@dataclass(frozen=True, kw_only=True)
class Overspending(OfferedResponse):
    """Spends 1 % more than it says."""

    @cached_property
    def _odds(self) -> tuple[Odds, ...]:
        return tuple(odds(Fraction(self.epsilon) * Fraction(101, 100), lows=each) for each in range(1, self.most))


@pytest.mark.parametrize("reads", ["everything", "features"])
def test_an_answer_that_says_too_much_is_found(reads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not audit_person(servers=5, reads=reads).broken
    monkeypatch.setattr(person_audit, "mechanism_from", lambda _, fields: Overspending(**fields))
    found = audit_person(servers=5, reads=reads)
    assert found.broken
    assert found.largest == pytest.approx(1.01, rel=1e-6)


def test_other_parameters_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="chooses among offered classes"):
        audit_person(mechanism="counts")
    with pytest.raises(InvalidParameter, match="servers must be at least 1"):
        audit_person(servers=0)
    with pytest.raises(UnknownParameter, match="cap"):
        audit_person(cap=3)
