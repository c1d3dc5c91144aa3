from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from privet.estimation.answers.answer_stability import false_classes_to_turn
from privet.release.asks.person import Person
from privet.release.log_shares import WHOLE

CLASSES, PEOPLE = 3, 40
RNG = np.random.default_rng(2)
OFFERS = np.array([[0, 1, 2], [0, 2, -1]] * (PEOPLE // 2))
ASK = Person(
    offers=OFFERS,
    scorer=RNG.integers(-(1 << 18), 1 << 18, (3, CLASSES)).astype(np.int32),
    unit_length=False,
    table=np.zeros((PEOPLE, CLASSES), dtype=np.uint8),
    mixing=((1 << 20) * np.eye(CLASSES)).astype(np.int32),
    shares=np.array([3, 2, 4], dtype=np.int32),
)
FEATURES = RNG.normal(size=(PEOPLE, 2))
WEIGHTS = WHOLE * RNG.integers(0, 6, (PEOPLE, CLASSES)).astype(np.int64)


def answer(person: int, weights: np.ndarray) -> int:
    scores = ASK.scores(FEATURES[[person]], weights[None])[0]
    return max((c for c in OFFERS[person] if c >= 0), key=lambda c: scores[c])


@pytest.mark.parametrize("person", range(0, PEOPLE, 3))
def test_the_number_is_that_of_a_search_over_each_false_class_in_turn(person: int) -> None:
    found = false_classes_to_turn(ASK, FEATURES, WEIGHTS, np.arange(PEOPLE), most=2)[person]
    told, reached = answer(person, WEIGHTS[person]), {tuple(WEIGHTS[person].tolist())}
    expected = 3
    for false in (1, 2):
        steps = product([None, *range(CLASSES)], repeat=2)  # from a class, or from none, to a class, or to none
        after = set()
        for counts, (gone, come) in product(reached, list(steps)):
            new = list(counts)
            if gone is not None:
                new[gone] -= WHOLE
            if come is not None:
                new[come] += WHOLE
            if min(new) >= 0:
                after.add(tuple(new))
        reached |= after
        if any(answer(person, np.array(each)) != told for each in reached):
            expected = false
            break
    assert found == expected


def test_the_numbers_differ_among_people() -> None:
    found = false_classes_to_turn(ASK, FEATURES, WEIGHTS, np.arange(PEOPLE))
    assert {1, 2, 3} <= set(found.tolist()) <= {1, 2, 3, 4}
