from __future__ import annotations

import pytest
from random_releases import NODES, POPULATIONS, people

from privet.errors import InvalidData
from privet.mechanisms import RandomizedResponse
from privet.release import PrivateData
from privet.release.asks.label import Label

PEOPLE = POPULATIONS["numeric"]


def test_the_class_is_given_as_it_is() -> None:
    private = people(PEOPLE, 0)
    assert Label().apply(private, RandomizedResponse.declare(PEOPLE, epsilon=1.0)) is private.labels


@pytest.mark.parametrize("label", [None, -1, 3])
def test_a_class_of_the_schema_is_demanded(label: int | None) -> None:
    Label().check(PrivateData.one(0, NODES, None, 2, []), PEOPLE)
    with pytest.raises(InvalidData, match="from 0 to 2"):
        Label().check(PrivateData.one(0, NODES, None, label, []), PEOPLE)
