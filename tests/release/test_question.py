from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from random_releases import NODES, POPULATIONS, people

from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import AdjacencyResponse, Laplace, MultiBit, RandomizedResponse, SeededBits
from privet.privacy import Guarantee, Unit
from privet.release import Question
from privet.release.asks.features import Features
from privet.release.asks.label import Label
from privet.release.asks.neighbours import Neighbours

PEOPLE = POPULATIONS["numeric"]


@dataclass(frozen=True, kw_only=True)
class Unpriced(AdjacencyResponse):
    """Says nothing of what a relationship costs."""

    def guarantee(self) -> Guarantee:
        return Guarantee.local(Unit.NEIGHBOUR_BIT, self.epsilon)


@dataclass(frozen=True)
class Sampled(Features):
    """Has a parameter that the multi-bit mechanism has too."""

    name = "sampled"
    sample: int = 3


def test_the_promise_is_the_mechanisms_for_the_field_that_is_asked_about() -> None:
    question = Question(Features(), MultiBit.declare(PEOPLE, epsilon=1.5))
    assert question.guarantee() == question.mechanism.guarantee()
    assert question.line().to_dict() == {
        "part": "features", "unit": "feature vector", "mechanism": "multi-bit", "epsilon": 1.5, "delta": 0.0,
        "how": MultiBit.words,
    }  # fmt: skip


@pytest.mark.parametrize(
    "mechanism",
    [
        Unpriced(epsilon=1.0, num_nodes=NODES),
        AdjacencyResponse.declare(PEOPLE, epsilon=1.0, one_sided=True),
        AdjacencyResponse.declare(PEOPLE, epsilon=1.0, one_sided=False),
    ],
)
def test_both_ends_of_a_relationship_are_charged(mechanism: AdjacencyResponse) -> None:
    question = Question(Neighbours(), mechanism)
    promise, line = question.guarantee(), question.line()
    assert (promise.unit, promise.epsilon, promise.relationship_epsilon) == (Unit.RELATIONSHIP, 2.0, 2.0)
    assert (line.unit, line.epsilon) == ("relationship", 2.0)
    assert "with an epsilon of 1 each" in line.how
    assert question.sends().endswith("epsilon 2 for a relationship)")


@pytest.mark.parametrize(
    ("ask", "mechanism"),
    [
        (Label(), MultiBit.declare(PEOPLE, epsilon=1.0)),
        (Features(), RandomizedResponse.declare(PEOPLE, epsilon=1.0)),
        (Neighbours(), Laplace.declare(PEOPLE, epsilon=1.0)),
        (Label(), AdjacencyResponse.declare(PEOPLE, epsilon=1.0)),
    ],
)
def test_a_mechanism_of_another_unit_is_refused(ask: Any, mechanism: Any) -> None:
    with pytest.raises(InvalidParameter, match=f"question '{ask.name}' needs a mechanism that protects a {ask.unit}"):
        Question(ask, mechanism)


def test_parameters_of_ask_and_mechanism_cannot_be_mixed_up() -> None:
    """A manifest holds both in one object: the ask's would be overwritten."""
    with pytest.raises(InvalidParameter, match=r"named otherwise than those of multi-bit.*sample"):
        Question(Sampled(), MultiBit.declare(PEOPLE, epsilon=1.0, sample=2))


def test_a_personal_mechanism_learns_whose_report_it_is() -> None:
    question = Question(Neighbours(), AdjacencyResponse.declare(PEOPLE, epsilon=1.0, one_sided=True))
    reports = question.perturb(people(PEOPLE, 0, [6, 2]), SeededBits(0))
    assert reports.users.tolist() == [6, 2]
    assert np.array_equal(question.mechanism.possible(reports), [True, True])


def test_the_owner_is_told_what_is_sent() -> None:
    text = Question(Label(), RandomizedResponse.declare(PEOPLE, epsilon=1.0)).sends()
    assert text.startswith("your class: the true one with 58% probability")
    assert text.endswith("(randomized-response, epsilon 1)")


def test_plain_values_make_the_question_again() -> None:
    question = Question(Features(), MultiBit.declare(PEOPLE, epsilon=1.0, sample=2))
    document = question.to_dict()
    assert document == {"ask": "features", "mechanism": "multi-bit", "epsilon": 1.0, "sample": 2}
    assert Question.from_dict(document, PEOPLE) == question
    with pytest.raises(InvalidData, match="an object with 'ask' and 'mechanism'"):
        Question.from_dict("features", PEOPLE)
    assert Question.from_dict(document, replace(PEOPLE, num_nodes=99)) == question
