"""The ways in which classes can be false, against a list of all of them."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from privet.estimation.friends.count_certificate import Counted
from privet.estimation.friends.count_trials import _splits, _Trial, moves


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
    tried = list(moves(classes, false))
    assert len(tried) == len(set(tried))
    assert set(tried) == all_changes(classes, false)


@pytest.mark.parametrize(("rounds", "false"), [(1, 2), (2, 1), (2, 2), (3, 1)])
def test_false_classes_are_dealt_to_the_rounds_in_every_way(rounds: int, false: int) -> None:
    found = set(_splits(rounds, 2, false))
    assert all(len(each) == rounds for each in found)
    expected = set()
    for numbers in product(range(false + 1), repeat=rounds):
        if sum(numbers) <= false:
            expected |= set(product(*(all_changes(2, number) for number in numbers)))
    assert found == expected


def test_what_a_move_told_before_does_not_matter() -> None:
    """A trial that keeps what moves tell gives the numbers of new ones, for other changes carried into the round."""
    rng = np.random.default_rng(0)
    people, classes, reports, grid = 20, 3, 6, 4
    chances = np.log(rng.dirichlet(np.ones(reports), size=(classes, grid, classes))).transpose(0, 3, 1, 2)
    keys = rng.integers(0, reports, size=(people, classes))
    counted = Counted(np.arange(people), keys, chances, np.zeros(grid), reports, np.array([0.8, 0.7, 0.1]))
    found = np.log(rng.dirichlet(np.ones(classes), size=people))

    def trial() -> _Trial:
        return _Trial(counted, np.arange(people), found, 2)

    kept = trial()
    for _ in range(2):
        for move in moves(classes, 2):
            carried = rng.normal(size=(people, classes))
            expected = trial().after(move, carried, again=False)
            np.testing.assert_array_equal(kept.after(move, carried, again=True), expected)
