from __future__ import annotations

import json
from typing import Any

import pytest

from privet.auditing.local.local_audit import audit_local
from privet.auditing.system_audit import audit_system
from privet.errors import InvalidParameter, PrivetError
from privet.systems import LPGNN, SYSTEMS, Inquiry, LocalSystem, Structure

LOCAL = {name: kind for name, kind in SYSTEMS.items() if issubclass(kind, LocalSystem)}


@pytest.mark.parametrize("kind", LOCAL.values(), ids=LOCAL)
def test_every_question_of_every_local_system_holds(kind: Any) -> None:
    found = audit_system(kind)
    assert not found.broken
    document = json.loads(json.dumps(found.to_dict()))
    assert document["system"] == kind.name
    assert all(each["holds"] for each in document["questions"].values())


def test_both_questions_of_inquiry_are_listed_at_their_own_budgets() -> None:
    found = audit_local(Inquiry, epsilon_features=2.0, epsilon_edges=0.5, epsilon_labels=None)
    assert list(found.questions) == ["friends", "friends-again", "resemblance"]
    epsilons = {name: each.found.epsilon for name, each in found.questions.items()}
    assert epsilons == pytest.approx({"friends": 0.5, "friends-again": 0.5, "resemblance": 2.0})


def test_a_claim_that_is_too_strong_for_one_question_is_broken() -> None:
    found = audit_local(LPGNN, "1.5", epsilon_features=1.0, epsilon_labels=2.0)
    assert found.broken
    assert [each.broken for each in found.questions.values()] == [False, True]


def test_who_asks_for_nothing_cannot_be_audited() -> None:
    with pytest.raises(PrivetError, match="asks nobody"):
        audit_local(Structure, epsilon_labels=None)
    with pytest.raises(InvalidParameter, match="lpgnn has no parameter 'rate'"):
        audit_local(LPGNN, rate=0.1)
