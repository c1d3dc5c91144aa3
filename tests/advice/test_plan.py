from __future__ import annotations

import json

import pytest
from some_advice import advice

from privet.advice.plan import Advice, StudyPlan
from privet.advice.topology import stated_topology
from privet.data import Schema
from privet.errors import InvalidData, InvalidParameter

SCHEMA = Schema.numeric(3, 0.0, 1.0, classes=2)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seeds": 1}, "at least 2"),
        ({"limit": 10}, "at least 60"),
        ({"worth": -1.0}, "at least 0"),
        ({"schema": Schema.numeric(3, 0.0, 1.0, classes=0)}, "at least 2"),
    ],
)
def test_plans_that_cannot_be_simulated(changes: dict, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        StudyPlan(**{"topology": stated_topology(100, 4.0), "schema": SCHEMA, "budget": 1.0} | changes)


def test_advice_reads_back() -> None:
    found = advice([0.0, 1.0, 4.0])
    assert Advice.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert repr(found) == "Advice(collect features: depends; lpgnn with multi-bit)"
    assert len(found.rows()) == 2
    with pytest.raises(InvalidData, match="advice"):
        Advice.from_dict({})
    with pytest.raises(InvalidData, match="no advice that privet gave"):
        Advice.from_dict(found.to_dict() | {"candidates": [{}]})
