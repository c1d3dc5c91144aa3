"""The second round of the friend question: other pairs, one price."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from random_releases import NODES, POPULATIONS, people

from privet.errors import InvalidData
from privet.mechanisms import Counts, MultiBit, OfferedResponse, SeededBits
from privet.privacy import Unit
from privet.release import LocalRelease, PrivateData, Question
from privet.release.asks.features import Features
from privet.release.asks.friends import Friends
from privet.release.asks.friends_again import FriendsAgain
from privet.release.asks.resemblance import Resemblance

PEOPLE = POPULATIONS["numeric"]
COUNTS = Counts.declare(PEOPLE, epsilon=1.0, cap=4)
IDS = np.arange(NODES)
FIRST = Friends(np.where(IDS < 4, IDS % 3, -1), np.where(IDS < 4, IDS % 2, 2))
AGAIN = FriendsAgain(np.where(IDS < 4, -1, IDS % 3), np.where(IDS < 4, 0, IDS % 3))
TWICE = FriendsAgain(np.where(IDS < 3, -1, IDS % 3), np.where(IDS < 4, 0, IDS % 3))  # person 3 is published again
ANSWERS_TWICE = FriendsAgain(np.where(IDS < 4, -1, IDS % 3), np.where(IDS < 3, 0, IDS % 3 + 1))


class Untouched(SeededBits):
    """Bits of which none may be drawn."""

    def below(self, *_: Any) -> Any:
        pytest.fail("a refused question was answered")


def release(*asks: Friends) -> LocalRelease:
    return LocalRelease(tuple(Question(ask, COUNTS) for ask in asks), PEOPLE)


@pytest.mark.parametrize("asks", [(FIRST, AGAIN), (AGAIN, FIRST)])
def test_both_rounds_cost_as_much_as_one(asks: tuple[Friends, ...]) -> None:
    promise = release(*asks).guarantee()
    assert (promise.unit, promise.epsilon, promise.relationship_epsilon) == (Unit.RELATIONSHIP, 2.0, 2.0)
    assert [line.epsilon for line in release(*asks).lines()] == [2.0, 2.0]


def test_rounds_of_different_budgets_cost_the_dearer() -> None:
    dear = LocalRelease((Question(FIRST, COUNTS), Question(AGAIN, Counts.declare(PEOPLE, epsilon=1.5))), PEOPLE)
    assert dear.guarantee().epsilon == dear.guarantee().relationship_epsilon == 3.0


def test_with_a_pilot_and_the_feature_question_each_unit_pays_its_dearest() -> None:
    offers = np.tile([0, 1], (NODES, 1))
    scorer = np.ones((PEOPLE.dimension + 1, PEOPLE.classes), dtype=np.int32)
    questions = (
        Question(Features(), MultiBit.declare(PEOPLE, epsilon=2.0)),
        Question(FIRST, COUNTS),
        Question(AGAIN, COUNTS),
        Question(Resemblance(scorer=scorer, offers=offers), OfferedResponse(epsilon=2.0, most=3)),
    )
    for order in itertools.permutations(questions):
        whole = LocalRelease(order, PEOPLE)
        promise = whole.guarantee()
        assert (promise.epsilon, promise.relationship_epsilon) == (4.0, 2.0)


@pytest.mark.parametrize("wrong", [TWICE, ANSWERS_TWICE])
def test_tables_by_which_a_pair_is_counted_twice_are_refused_before_anything_is_spent(wrong: FriendsAgain) -> None:
    sentence = r"table of round 2 must be of people who were not published in an earlier round.*person 3, who was"
    with pytest.raises(InvalidData, match=sentence):
        release(FIRST, wrong).perturb(people(PEOPLE, 0), Untouched(0))
    first = release(FIRST).perturb(people(PEOPLE, 0), SeededBits(0))
    with pytest.raises(InvalidData, match=sentence):
        first.joined(release(wrong).perturb(people(PEOPLE, 0), SeededBits(0)))


def test_rounds_that_go_together_join() -> None:
    private = people(PEOPLE, 0)
    both = release(FIRST).perturb(private, SeededBits(0)).joined(release(AGAIN).perturb(private, SeededBits(1)))
    assert list(both) == ["friends", "friends-again"]
    assert both.release.guarantee() == release(FIRST, AGAIN).guarantee()
    assert len(release(FIRST, AGAIN).perturb(private, SeededBits(0))) == 2


def test_a_round_that_is_not_drawn_up_cannot_be_compared() -> None:
    with pytest.raises(InvalidData, match="'friends-again' cannot be answered: its public 'table' is not drawn up"):
        release(FIRST, FriendsAgain()).perturb(people(PEOPLE, 0), Untouched(0))


def test_each_bit_of_each_list_is_in_one_answer_at_most() -> None:
    """Every pair of nine people, and every report of the person who counts it, in both rounds together."""
    mechanism = Counts(epsilon=0.7, classes=3, cap=2)
    limit = Fraction(exp(0.7)) * (1 + Fraction(1, 10**12))
    rng, moved = np.random.default_rng(0), 0
    for person, friend in itertools.permutations(range(NODES), 2):
        row = rng.random(NODES) < 0.3
        row[person] = False
        lists = np.stack([np.where(friend == IDS, bit, row) for bit in (False, True)]).astype(np.float32)
        ratios, changes = [Fraction(1)], 0
        for ask in (FIRST, AGAIN):
            values = [
                tuple(ask.apply(PrivateData(np.array([person]), neighbours=sp.csr_array(each[None])), mechanism)[0])
                for each in lists
            ]
            changes += values[0] != values[1]
            one, other = (mechanism.exact_distribution(value) for value in values)
            ratios.append(max(max(one[k][0] / other[k][0], other[k][0] / one[k][0]) for k in one))
        assert changes <= 1
        assert Fraction(np.prod(ratios)) <= limit  # type: ignore[arg-type]
        moved += changes
    assert moved > NODES
