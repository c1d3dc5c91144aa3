from __future__ import annotations

import numpy as np

from privet.mechanisms import AdjacencyResponse, OfferedResponse
from privet.release.asks.features import Features
from privet.release.asks.label import Label
from privet.release.asks.length import Length
from privet.release.asks.neighbours import Neighbours
from privet.release.asks.resemblance import Resemblance
from privet.release.pretence import Pretence

PRETENCE = Pretence(np.array([0, 2]), np.array([1, 2]), np.array([0, 1]), np.array([0, 1, 1, 2, -1]), 3)


def test_votes_and_rows() -> None:
    assert PRETENCE.votes(PRETENCE.wanted).toarray().tolist() == [[-1, 1, -1], [-1, -1, 1]]
    assert PRETENCE.take(np.array([1])).users.tolist() == [2]


def test_each_question_says_what_a_lie_about_the_class_is() -> None:
    response = OfferedResponse(epsilon=1.0, most=3)
    lists = AdjacencyResponse(epsilon=1.0, num_nodes=5)
    assert Label().speaks_for(PRETENCE, response).toarray().argmax(axis=1).tolist() == [1, 2]
    named = Neighbours().speaks_for(PRETENCE, lists).toarray()
    assert named.tolist() == [
        [0, 1, 1, 0, 1],
        [0, 0, 0, 1, 1],
    ]  # that class, and people of no known class
    offers = np.array([[0, 1, -1], [0, 1, 2], [0, 1, -1], [0, 1, 2], [0, 1, 2]])
    told = Resemblance(offers=offers).speaks_for(PRETENCE, response).toarray()
    assert told.argmax(axis=1).tolist() == [1, 0]  # class 2 was not offered to person 2, who avoids the own class 1
    assert Features().speaks_for(PRETENCE, response) is None
    assert Length().speaks_for(PRETENCE, lists) is None
