"""The ways in which classes can be false, against a list of all of them."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from privet.estimation.friends.count_trials import _moves, _splits


def all_changes(classes: int, false: int) -> set[tuple[tuple[int, int], ...]]:
    """The changes of counts when so many friends, or fewer, are counted in other classes than theirs, or in none."""
    found = set()
    choices = [(old, new) for old, new in product(range(-1, classes), repeat=2)]  # -1: not counted
    for lies in product(choices, repeat=false):
        change: Counter[int] = Counter()
        for old, new in lies:
            change[old] -= 1
            change[new] += 1
        found.add(tuple((k, change[k]) for k in range(classes) if change[k]))
    return found


@pytest.mark.parametrize(("classes", "false"), [(2, 1), (2, 2), (3, 1), (3, 2), (4, 2)])
def test_every_change_that_so_many_false_classes_make_is_tried_once(classes: int, false: int) -> None:
    moves = list(_moves(classes, false))
    assert len(moves) == len(set(moves))
    assert set(moves) == all_changes(classes, false)


@pytest.mark.parametrize(("rounds", "false"), [(1, 2), (2, 1), (2, 2), (3, 1)])
def test_false_classes_are_dealt_to_the_rounds_in_every_way(rounds: int, false: int) -> None:
    found = set(_splits(rounds, 2, false))
    assert all(len(moves) == rounds for moves in found)
    expected = set()
    for numbers in product(range(false + 1), repeat=rounds):
        if sum(numbers) <= false:
            expected |= set(product(*(all_changes(2, number) for number in numbers)))
    assert found == expected
