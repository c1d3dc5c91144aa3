from __future__ import annotations

import itertools
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from random_releases import NODES, POPULATIONS
from thorough import thorough

from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import Counts, DegreeResponse, SeededBits
from privet.release import LocalRelease, PrivateData, Question
from privet.release.asks import friends
from privet.release.asks.friends import Friends, check_rounds, counts_whom, ranks_of

PEOPLE = POPULATIONS["numeric"]
CLASSES = PEOPLE.classes
MANY = Counts(epsilon=1.0, classes=3, cap=20)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """A random graph, and any tables at all."""
    people = draw(st.integers(2, 9))
    bits = draw(st.lists(st.booleans(), min_size=people * people, max_size=people * people))
    graph = np.triu(np.reshape(bits, (people, people)), 1)
    table = draw(st.lists(st.integers(-1, 2), min_size=people, max_size=people))
    ranks = draw(st.lists(st.integers(0, 4), min_size=people, max_size=people))
    return graph | graph.T, np.array(table), np.array(ranks)


def everybody(graph: NDArray[Any]) -> PrivateData:
    return PrivateData(np.arange(len(graph)), neighbours=sp.csr_array(graph.astype(np.float32)))


def total(ask: Friends, graph: NDArray[Any]) -> NDArray[Any]:
    """All counts, those of people who are not asked left out, as the server sees them."""
    asked = ask.people()
    assert asked is not None
    counts = np.zeros((len(graph), MANY.classes), dtype=np.int64)
    counts[asked] = ask.apply(everybody(graph).take(asked), MANY)
    return counts


@thorough
@given(world=worlds(), pair=st.tuples(st.integers(0, 8), st.integers(0, 8)))
def test_flipping_a_relationship_changes_one_count_of_one_person_by_one_at_most(
    world: tuple[NDArray[Any], NDArray[Any], NDArray[Any]], pair: tuple[int, int]
) -> None:
    graph, table, ranks = world
    i, j = (end % len(graph) for end in pair)
    if i == j:
        return
    other = graph.copy()
    other[i, j] = other[j, i] = not graph[i, j]
    ask = Friends(table, ranks)
    moved = np.abs(total(ask, graph) - total(ask, other))
    counted = (ranks[i] > ranks[j] and table[j] >= 0) or (ranks[j] > ranks[i] and table[i] >= 0)
    assert moved.sum() == counted


@thorough
@given(world=worlds())
def test_every_pair_is_counted_at_most_once(world: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]) -> None:
    graph, table, ranks = world
    counts = counts_whom(ranks[:, None], ranks[None, :])
    assert not (counts & counts.T).any()
    assert total(Friends(table, ranks), graph).sum() <= graph.sum() // 2


@thorough
@given(world=worlds(), again=worlds())
def test_rounds_that_are_allowed_count_no_pair_twice(
    world: tuple[NDArray[Any], NDArray[Any], NDArray[Any]], again: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
) -> None:
    people = min(len(world[0]), len(again[0]))
    rounds = [Friends(table[:people], ranks[:people]) for _, table, ranks in (world, again)]
    full = ~np.eye(people, dtype=np.bool_)
    twice = sum(total(ask, full).sum() for ask in rounds)
    first, second = (
        counts_whom(ask.attachment("ranks")[:, None], ask.attachment("ranks")) & (ask.attachment("table") >= 0)
        for ask in rounds
    )
    overlap = (first | first.T) & (second | second.T)
    try:
        check_rounds(rounds)
    except InvalidData:
        return
    assert not overlap.any()
    assert twice <= people * (people - 1) // 2


def test_a_person_published_before_cannot_take_part_again() -> None:
    first = Friends([0, -1, -1], [0, 2, 2])
    check_rounds([first, Friends([-1, 1, 1], [0, 0, 1])])
    for table, ranks in (([0, 1, 1], [0, 0, 1]), ([-1, 1, 1], [2, 0, 1])):
        with pytest.raises(InvalidData, match=r"table of round 2 must be of people who were not published.*person 0"):
            check_rounds([first, Friends(table, ranks)])


def test_the_roles() -> None:
    labelled, calibrating = np.array([1, 1, 0, 0], dtype=bool), np.array([0, 1, 0, 0], dtype=bool)
    ranks = ranks_of(labelled, calibrating)
    assert ranks.tolist() == [0, 1, 2, 2]
    ask = Friends(np.array([0, 1, -1, -1]), ranks)
    assert ask.people() is not None
    assert ask.people().tolist() == [1, 2, 3]  # type: ignore[union-attr]
    full = everybody(~np.eye(4, dtype=np.bool_))
    assert ask.apply(full, MANY).tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 0]]
    certain = ranks_of(labelled, calibrating, np.array([0.0, 0.0, 0.4, 0.9]), levels=2)
    assert certain.tolist() == [0, 1, 3, 2]


def test_counts_are_cut_to_the_cap() -> None:
    ask = Friends(np.zeros(6, dtype=int), np.array([1, 0, 0, 0, 0, 0]))
    full = everybody(~np.eye(6, dtype=np.bool_))
    assert ask.apply(full.take(np.array([0])), Counts(epsilon=1.0, classes=2, cap=3)).tolist() == [[3, 0]]


@given(world=worlds(), entries=st.integers(1, 12))
def test_blocks_of_people_do_not_matter(world: tuple[NDArray[Any], NDArray[Any], NDArray[Any]], entries: int) -> None:
    graph, table, ranks = world
    ask = Friends(table, ranks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(friends, "_ENTRIES", entries)
        found = ask.apply(everybody(graph), MANY)
    seen = graph & counts_whom(ranks[:, None], ranks)
    assert np.array_equal(found, seen @ (table[:, None] == np.arange(3)).astype(int))


@pytest.mark.parametrize("table", list(itertools.product((-1, 0, 1), repeat=3)))
def test_no_choice_of_tables_raises_the_price_of_a_list_bit(table: tuple[int, ...]) -> None:
    """Every table and role that a dishonest server can send one person, every list, every bit, every report."""
    mechanism = Counts(epsilon=0.7, classes=2, cap=2)
    bound = Fraction(exp(0.7)) * (1 + Fraction(1, 10**12))
    reports = {value: mechanism.exact_distribution(value) for value in itertools.product(range(3), repeat=2)}
    for ranks in itertools.product((0, 1, 2), repeat=3):  # below, equal to and above the person's own
        ask = Friends((-1, *table), (1, *ranks))
        for listed in itertools.product((False, True), repeat=3):
            lists = []
            for flipped in (None, 0, 1, 2):
                own = [friend ^ (place == flipped) for place, friend in enumerate(listed)]
                private = PrivateData.one(0, 4, None, None, np.flatnonzero([False, *own]))
                lists.append(reports[tuple(ask.apply(private, mechanism)[0].tolist())])
            for other in lists[1:]:
                assert all(lists[0][report][1] <= bound * other[report][0] for report in other)


def test_a_relationship_is_charged_at_both_ends() -> None:
    question = Question(Friends(), Counts.declare(PEOPLE, epsilon=1.5))
    assert question.guarantee().epsilon == question.guarantee().relationship_epsilon == 3.0
    release = LocalRelease((question,), PEOPLE)
    assert any(text.startswith("one relationship costs an epsilon of 3;") for text in release.guarantee().unprotected)


def test_a_manifest_holds_digests_and_not_tables() -> None:
    ask = Friends(np.zeros(NODES, dtype=int), np.ones(NODES, dtype=int))
    document = Question(ask, Counts.declare(PEOPLE, epsilon=1.0)).to_dict()
    assert document["ask"] == "friends"
    assert all(document[name].startswith("sha256:") for name in ("table", "ranks"))
    again = Question.from_dict(document, PEOPLE)
    assert again.to_dict() == document
    with pytest.raises(InvalidData, match=r"public 'table' with digest sha256:.* was not downloaded"):
        again.perturb(PrivateData.one(0, NODES, None, None, [1]), SeededBits(0))
    with pytest.raises(InvalidData, match="'ranks' of the question 'friends' must be the one with digest"):
        again.ask.attach(table=ask.attachment("table"), ranks=np.zeros(NODES, dtype=int))
    same = again.ask.attach(table=ask.attachment("table").astype(np.int64), ranks=ask.attachment("ranks"))
    assert same.to_dict() == ask.to_dict()


def test_tables_that_are_not_drawn_up() -> None:
    question = Question(Friends(), Counts.declare(PEOPLE, epsilon=1.0))
    assert question.ask.people() is None
    with pytest.raises(InvalidData, match="cannot be answered: its public 'table' is not drawn up yet"):
        question.perturb(PrivateData.one(0, NODES, None, None, [1]), SeededBits(0))
    with pytest.raises(InvalidData, match="no neighbour lists"):
        Friends([0], [1]).apply(PrivateData(np.array([0])), MANY)


@pytest.mark.parametrize("neighbours", [[4], [NODES], [-1]])
def test_ids_of_other_people_are_demanded(neighbours: list[int]) -> None:
    ask = Friends(np.zeros(NODES, dtype=int), np.ones(NODES, dtype=int))
    ask.check(PrivateData.one(4, NODES, None, None, [0, 8]), PEOPLE)
    with pytest.raises(InvalidData, match="Your list of neighbours"):
        ask.check(PrivateData.one(4, NODES, None, None, neighbours), PEOPLE)


def test_tables_of_another_length_are_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"ranks must be as long as the table, 2, not 3"):
        Friends([0, 1], [0, 1, 2])
    ask, own = Friends([0, 1], [0, 1]), PrivateData.one(1, NODES, None, None, [0])
    for refused in (lambda: ask.check(own, PEOPLE), lambda: ask.apply(own, MANY)):
        with pytest.raises(InvalidData, match=f"one entry for each of {NODES} people, not 2 entries"):
            refused()


def test_classes_outside_the_schema_are_refused() -> None:
    with pytest.raises(InvalidParameter, match=rf"table .* -1 or a class below {CLASSES} for each.*not {CLASSES}"):
        Question(Friends([0, CLASSES], [0, 1]), Counts.declare(PEOPLE, epsilon=1.0))
    with pytest.raises(InvalidParameter, match=r"table must be integers of at least -1, not -2"):
        Friends([0, -2], [0, 1])
    with pytest.raises(InvalidParameter, match=r"ranks must be integers of at least 0, not -1"):
        Friends([0, 1], [0, -1])
    with pytest.raises(InvalidParameter, match="a vector of integers"):
        Friends([0.5, 1.0], [0, 1])


def test_a_mechanism_of_one_number_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="randomises counts"):
        Question(Friends(), DegreeResponse.declare(PEOPLE, epsilon=1.0))
