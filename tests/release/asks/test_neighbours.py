from __future__ import annotations

import pytest
from random_releases import NODES, POPULATIONS, people

from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import AdjacencyResponse, DegreeResponse
from privet.release import PrivateData, Question
from privet.release.asks.neighbours import Neighbours

PEOPLE = POPULATIONS["numeric"]


def test_the_list_is_given_as_it_is() -> None:
    private = people(PEOPLE, 0)
    assert Neighbours().apply(private, AdjacencyResponse.declare(PEOPLE, epsilon=1.0)) is private.neighbours


@pytest.mark.parametrize("neighbours", [[4], [0, 4], [NODES], [-1], [10**12]])
def test_ids_of_other_people_are_demanded(neighbours: list[int]) -> None:
    Neighbours().check(PrivateData.one(4, NODES, None, None, [0, 8]), PEOPLE)
    with pytest.raises(InvalidData, match="Your list of neighbours"):
        Neighbours().check(PrivateData.one(4, NODES, None, None, neighbours), PEOPLE)


def test_a_mechanism_of_numbers_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="mechanism"):
        Question(Neighbours(), DegreeResponse.declare(PEOPLE, epsilon=1.0))
