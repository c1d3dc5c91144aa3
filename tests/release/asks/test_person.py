"""The person question: its arithmetic, its promise under every table, scorer and offer, and its two waves."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from random_releases import NODES, POPULATIONS, people
from thorough import thorough

from privet.data import Schema
from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter, PrivetError
from privet.mechanisms import Counts, MultiBit, OfferedResponse, RandomizedResponse, SeededBits
from privet.privacy import Guarantee, Unit
from privet.release import LocalRelease, PrivateData, Question
from privet.release.asks.features import Features
from privet.release.asks.friends import Friends
from privet.release.asks.label import Label
from privet.release.asks.person import Person, in_255ths, scaled_together
from privet.release.asks.person_again import PersonAgain
from privet.release.asks.resemblance import unit_scores
from privet.release.log_shares import FIXED_POINT, _log, log_shares, published_weights

PEOPLE = POPULATIONS["numeric"]
WIDTH, CLASSES = PEOPLE.dimension, PEOPLE.classes
MECHANISM = OfferedResponse(epsilon=1.0, most=CLASSES)
RNG = np.random.default_rng(0)
ARRAYS: dict[str, Any] = {
    "scorer": RNG.integers(-900, 900, (WIDTH + 1, CLASSES)).astype(np.int32),
    "offers": np.array([[0, 1, 2], [0, 2, -1], [1, 2, -1]] * 3),
    "table": RNG.integers(0, 256, (NODES, CLASSES), dtype=np.uint8),
    "mixing": RNG.integers(-900, 900, (CLASSES, CLASSES)).astype(np.int32),
    "shares": np.array([5, 2, 3], dtype=np.int32),
}


def asked(kind: type[Person] = Person, **fields: Any) -> Person:
    return kind(**{**ARRAYS, **fields})


@pytest.mark.parametrize("reads", ["everything", "friends", "features"])
@pytest.mark.parametrize("unit_length", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_answer_is_the_slow_argmax_over_the_offered_classes(reads: str, unit_length: bool, sparse: bool) -> None:
    private = people(PEOPLE, 3)
    lists = private.neighbours.toarray()
    expected = []
    for user, row in enumerate(private.features):
        values = row / np.linalg.norm(row) if unit_length else row
        n = (lists[user][:, None] * ARRAYS["table"] / 255).sum(axis=0)
        p = ARRAYS["shares"] / ARRAYS["shares"].sum()
        logs = [math.log((n[k] + 0.3 * p[k]) / (n.sum() + 0.3) / p[k]) for k in range(CLASSES)]
        score = np.zeros(CLASSES)
        score += ARRAYS["scorer"][-1] + (0 if reads == "friends" else values @ ARRAYS["scorer"][:-1])
        if reads != "features":
            score += logs @ ARRAYS["mixing"]
        offered = [c for c in ARRAYS["offers"][user] if c >= 0]
        expected.append((int(np.argmax(score[offered])), len(offered)))
    if sparse:
        private = replace(private, features=sp.csr_array(private.features))
    assert [tuple(row) for row in asked(reads=reads, unit_length=unit_length).apply(private, MECHANISM)] == expected
    assert len({position for position, _ in expected}) > 1


def test_offsets_alone_join_the_friends_scores() -> None:
    private = people(PEOPLE, 3)
    plain = asked(reads="friends", scorer=None).score(private)
    weights = published_weights(private.neighbours, ARRAYS["table"])
    for rows in (1, WIDTH + 1):
        offsets = np.zeros((rows, CLASSES), dtype=np.int32)
        offsets[-1] = [7, -5, 2**20]
        ask = asked(reads="friends", scorer=offsets)
        assert np.array_equal(ask.score(private), plain + offsets[-1])
        assert np.array_equal(ask.scores(None, weights), plain + offsets[-1])
    both = asked()
    assert np.array_equal(both.scores(private.features, weights), both.score(private))


def test_log_shares_are_logarithms_to_a_fixed_point_and_zero_without_published_friends() -> None:
    shares = np.array([1, 7, 300, 65_000], dtype=np.int32)
    weights = np.random.default_rng(1).integers(0, 255 * 40, (500, 4)) * (np.arange(500) % 7 > 0)[:, None]
    found, p = log_shares(weights, shares), shares / shares.sum()
    n = weights / 255
    exact = np.log((n + 0.3 * p) / (n.sum(axis=1, keepdims=True) + 0.3) / p)
    assert np.abs(found / FIXED_POINT - exact).max() <= 0.5001 / FIXED_POINT
    assert (found[::7] == 0).all()


def test_the_logarithm_is_made_of_operations_that_every_device_rounds_alike() -> None:
    """Bit for bit what a plain loop finds, as another language writes it."""
    weights, shares = np.random.default_rng(2).integers(0, 10**6, (300, 3)), np.array([3, 50, 9], dtype=np.int32)
    for row, found in zip(weights.tolist(), log_shares(weights, shares).tolist(), strict=True):
        total = float(sum(row))
        for k, share in enumerate(shares.tolist()):
            value = (10.0 * shares.sum() * row[k] + 765.0 * share) / (share * (10.0 * total + 765.0))
            exponent = 0
            while value >= 1:
                value, exponent = value / 2, exponent + 1
            while value < 0.7071067811865476:
                value, exponent = value * 2, exponent - 1
            t = (value - 1) / (value + 1)
            series = 1 / 21
            for odd in (19, 17, 15, 13, 11, 9, 7, 5, 3, 1):
                series = series * (t * t) + 1 / odd
            logarithm = 2 * t * series + exponent * 0.6931471805599453
            assert found[k] == math.floor(logarithm * 65536 + 0.5)
            assert _log(np.array([value * 2.0**exponent]))[0] == logarithm
            assert logarithm == pytest.approx(math.log(value * 2.0**exponent), abs=1e-15)


def test_scores_at_length_one_are_added_feature_by_feature() -> None:
    rows = np.random.default_rng(3).standard_normal((40, 30))
    rows[5] = 0.0
    weights = np.random.default_rng(4).integers(-(1 << 20), 1 << 20, (31, 3)).astype(np.int32)
    found = unit_scores(rows, weights)
    assert np.array_equal(found, unit_scores(sp.csr_array(rows), weights))
    for row, scores in zip(rows.tolist(), found, strict=True):
        for column, score in enumerate(scores.tolist()):
            total = squares = 0.0
            for value, weight in zip(row, weights[:-1, column].tolist(), strict=True):
                total, squares = total + value * weight, squares + value * value
            assert score == (total / math.sqrt(squares) if squares else 0.0) + float(weights[-1, column])


def test_friends_are_added_up_exactly() -> None:
    lists = sp.csr_array(np.array([[0, 1, 1], [0, 0, 0]], dtype=np.float32))
    table = np.array([[9, 9], [255, 0], [100, 55]], dtype=np.uint8)
    assert published_weights(lists, table).tolist() == [[355, 55], [0, 0]]
    many, wide = (
        sp.random_array((900, 900), density=0.1, rng=RNG, format="csr"),
        RNG.integers(0, 256, (900, 3), np.uint8),
    )
    many.data[:] = 1
    whole = published_weights(many, wide)
    assert many.nnz > 1 << 16  # added by a product, and row by row
    assert all(np.array_equal(published_weights(many[[row]], wide)[0], whole[row]) for row in range(0, 900, 90))

    class Elsewhere:
        shape = many.shape

        def __matmul__(self, columns: Any) -> Any:
            return many @ columns

    assert np.array_equal(published_weights(Elsewhere(), wide), whole)
    assert in_255ths(np.array([[1.0, 0.0], [0.5, 0.25]])).tolist() == [[255, 0], [128, 64]]


def test_both_parts_are_scaled_alike() -> None:
    scorer, mixing = scaled_together(np.array([[0.5, -0.1]]), np.eye(2) * 2)
    assert mixing.tolist() == [[1 << 20, 0], [0, 1 << 20]]
    assert scorer.tolist() == [[1 << 18, round(-0.05 * (1 << 20))]]
    assert not scaled_together(np.zeros((1, 2)), np.zeros((2, 2)))[1].any()


# The promise


def test_each_declaration_has_its_unit_and_a_relationship_costs_both_ends() -> None:
    found = {
        reads: Question(Person(reads=reads), MECHANISM).guarantee() for reads in ("everything", "friends", "features")
    }
    assert {reads: promise.unit for reads, promise in found.items()} == {
        "everything": Unit.PERSON, "friends": Unit.FRIEND_LIST, "features": Unit.FEATURES,
    }  # fmt: skip
    assert [promise.epsilon for promise in found.values()] == [1.0, 1.0, 1.0]
    assert [promise.relationship_epsilon for promise in found.values()] == [2.0, 2.0, None]
    assert "Whatever you answer and whoever your friends are, an observer" in found["everything"].in_words()
    assert "Whoever your friends are, an observer" in found["friends"].in_words()
    assert "all features and the whole friend list" in found["everything"].adjacency
    assert any("one relationship costs an epsilon of 2" in text for text in found["everything"].unprotected)


def test_a_wider_promise_holds_for_what_it_covers() -> None:
    label = Question(Label(), RandomizedResponse.declare(PEOPLE, epsilon=0.5))
    whole = Question(Person(), MECHANISM)
    release = LocalRelease((label, whole), PEOPLE)
    assert release.asks_about(Unit.FEATURES)
    assert release.asks_about(Unit.NEIGHBOUR_BIT)
    assert not LocalRelease((Question(Person(reads="friends"), MECHANISM),), PEOPLE).asks_about(Unit.FEATURES)
    assert release.guarantee().unit == "label and person"
    assert (release.price.epsilon, release.guarantee().relationship_epsilon) == (1.5, 2.0)
    bounds = {unit: release.price.bound(unit) for unit in Unit if unit is not Unit.NODE}
    assert bounds == {
        Unit.FEATURES: 1.0, Unit.LABEL: 0.5, Unit.NEIGHBOUR_BIT: 1.0, Unit.RELATIONSHIP: 2.0, Unit.FRIEND_LIST: 1.0,
        Unit.PERSON: 1.0,
    }  # fmt: skip
    counts = Question(Friends(), Counts.declare(PEOPLE, epsilon=0.25))
    features = Question(Features(), MultiBit.declare(PEOPLE, epsilon=3.0))
    both = LocalRelease((label, counts, features, whole), PEOPLE).price
    assert [both.bound(unit) for unit in (Unit.FEATURES, Unit.NEIGHBOUR_BIT, Unit.RELATIONSHIP)] == [4.0, 1.25, 2.5]
    assert both.bound(Unit.FRIEND_LIST) == both.bound(Unit.PERSON) == math.inf
    assert both.whole.epsilon == 0.5 + 0.5 + 3.0 + 1.0
    assert both.whole.relationship_epsilon == 2.5


@pytest.mark.parametrize(("reads", "epsilon"), [("everything", 1.0), ("friends", 2.0)])
def test_waves_of_one_unit_are_charged_once_and_others_add_up(reads: str, epsilon: float) -> None:
    first, again = Question(Person(), MECHANISM), Question(PersonAgain(reads=reads), MECHANISM)
    assert LocalRelease((first, again), PEOPLE).price.epsilon == epsilon


GRID = np.array(list(itertools.product((0.0, 0.5, 1.0), repeat=2)))
LISTS = [list(each) for size in range(4) for each in itertools.combinations((1, 2, 3), size)]
BOUND = 1 + Fraction(1, 10**12)


def every_person() -> PrivateData:
    """Person 0 of four, with all features of a grid and all friend lists."""
    states = list(itertools.product(GRID, LISTS))
    lists = np.zeros((len(states), 4), dtype=np.float32)
    for row, (_, friends) in enumerate(states):
        lists[row, friends] = 1
    features = np.array([features for features, _ in states])
    return PrivateData(np.zeros(len(states), dtype=np.int64), features, neighbours=sp.csr_array(lists))


EVERYBODY = every_person()


def worst_ratio(ask: Person, mechanism: OfferedResponse) -> Fraction:
    """The largest likelihood ratio of any report between any two states of a device, by full enumeration."""
    found = Fraction(1)
    values = {tuple(value) for value in ask.apply(EVERYBODY, mechanism).tolist()}
    for one, other in itertools.permutations(values, 2):
        first, second = (mechanism.exact_distribution(value) for value in (one, other))
        assert first.keys() == second.keys()
        found = max(found, *(first[report][0] / second[report][0] for report in first))
    return found


@thorough
@given(
    weights=st.lists(st.integers(-(2**31), 2**31 - 1), min_size=12, max_size=12),
    table=st.lists(st.sampled_from((0, 1, 254, 255)), min_size=16, max_size=16),
    mixing=st.lists(st.integers(-(1 << 20), 1 << 20), min_size=16, max_size=16),
    shares=st.lists(st.sampled_from((1, 60_000 // 4)), min_size=4, max_size=4),
    offered=st.sets(st.integers(0, 3), min_size=2),
    epsilon=st.sampled_from([0.1, 1.0, 4.0]),
    unit_length=st.booleans(),
    reads=st.sampled_from(["everything", "friends", "features"]),
)
def test_no_table_scorer_mixing_or_offer_raises_the_price(
    weights: list[int], table: list[int], mixing: list[int], shares: list[int], offered: set[int], epsilon: float,
    unit_length: bool, reads: str,
) -> None:  # fmt: skip
    ask = Person(
        offers=np.array([sorted(offered) + [-1] * (4 - len(offered))]),
        reads=reads,
        scorer=np.array(weights, dtype=np.int32).reshape(3, 4),
        unit_length=unit_length,
        table=np.array(table, dtype=np.uint8).reshape(4, 4),
        mixing=np.array(mixing).reshape(4, 4),
        shares=np.array(shares),
    )
    assert worst_ratio(ask, OfferedResponse(epsilon=epsilon, most=4)) <= Fraction(exp(epsilon)) * BOUND


def test_an_answer_about_one_friend_reaches_the_price() -> None:
    """A table, a scorer and an offer that isolate one friend: the loss is epsilon, and the enumeration sees it."""
    table = np.zeros((4, 2), dtype=np.uint8)
    table[1, 1] = 255  # person 1 alone is published
    ask = Person(
        offers=np.array([[0, 1]]),
        reads="friends",
        table=table,
        mixing=np.eye(2, dtype=np.int32),
        shares=np.array([1, 1]),
    )
    answers = ask.apply(EVERYBODY, MECHANISM)[:, 0]
    assert np.array_equal(answers, EVERYBODY.neighbours.toarray()[:, 1])
    ratio = worst_ratio(ask, OfferedResponse(epsilon=1.0, most=2))
    assert Fraction(exp(0.999)) < ratio <= Fraction(exp(1.0)) * BOUND


def test_devices_draw_as_often_whatever_is_on_them() -> None:
    class Counting(SeededBits):
        def words(self, count: int) -> NDArray[np.uint64]:
            drawn.append(count)
            return super().words(count)

    question = Question(asked(), MECHANISM)
    seen = set()
    for seed in range(5):
        drawn: list[int] = []
        question.perturb(people(PEOPLE, seed), Counting(0))
        seen.add(tuple(drawn))
    assert seen == {(NODES,)}


# Refusals


class Untouched(SeededBits):
    """Bits of which none may be drawn."""

    def below(self, *_: Any) -> Any:
        pytest.fail("a refused question was answered")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"scorer": ARRAYS["scorer"][:-1]}, "scorer must be 5 rows, not 4 rows: one a feature, and offsets"),
        ({"table": ARRAYS["table"][:-1]}, "published table of classes must be a row for each of 9 people"),
        ({"table": ARRAYS["table"][:, :-1]}, "must be about the same classes"),
        ({"mixing": np.eye(2, dtype=np.int32)}, "must be about the same classes"),
        ({"shares": np.array([1, 1])}, "must be about the same classes"),
        ({"offers": np.tile([0, 3], (NODES, 1))}, "offered classes must be .*below 3"),
        ({"offers": None}, "its public 'offers' is not drawn up yet"),
        ({"scorer": None}, "its public 'scorer' is not drawn up yet"),
        ({"table": "sha256:00"}, "its public 'table' with digest sha256:00 was not downloaded"),
        ({"mixing": None}, "its public 'mixing' is not drawn up yet"),
        ({"shares": None}, "its public 'shares' is not drawn up yet"),
    ],
)
def test_what_cannot_be_answered_is_one_sentence_and_nothing_is_spent(fields: dict[str, Any], sentence: str) -> None:
    release = LocalRelease((Question(asked(**fields), MECHANISM),), PEOPLE)
    for refuse in (
        lambda: release.perturb(people(PEOPLE, 0), Untouched(0)),
        lambda: release.check(people(PEOPLE, 0, [1])),
    ):
        with pytest.raises(PrivetError, match=sentence) as refusal:
            refuse()
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"reads": "minds"}, "reads must be everything, friends or features"),
        ({"table": ARRAYS["table"].astype(np.int32)}, "a matrix of 255ths"),
        ({"table": ARRAYS["table"][0]}, "a matrix of 255ths"),
        ({"mixing": np.eye(3)}, "mixing must be whole numbers"),
        ({"mixing": np.ones((2, 3), dtype=np.int32)}, "square matrix"),
        ({"mixing": np.full((3, 3), (1 << 20) + 1)}, "square matrix of whole numbers from"),
        ({"shares": np.array([1, 0, 2])}, "at least 1"),
        ({"shares": np.array([1, 65_536, 2])}, "sum of at most 65536"),
    ],
)
def test_tables_that_say_nothing_are_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        asked(**fields)


def test_only_a_choice_among_options_randomises_it() -> None:
    with pytest.raises(InvalidParameter, match="'offered-response'"):
        Question(Person(), MultiBit.declare(PEOPLE, epsilon=1.0))


def test_a_device_refuses_strange_answers_and_lists() -> None:
    asked().check(people(PEOPLE, 0, [1]), PEOPLE)
    own = replace(people(PEOPLE, 0, [1]), neighbours=sp.csr_array(np.eye(NODES, dtype=np.float32)[[1]]))
    with pytest.raises(InvalidData, match="names yourself"):
        asked().check(own, PEOPLE)
    with pytest.raises(InvalidData, match="4 numbers"):
        asked().check(replace(people(PEOPLE, 0, [1]), features=np.zeros((1, 3))), PEOPLE)
    asked(reads="friends", scorer=None).check(replace(people(PEOPLE, 0, [1]), features=None), PEOPLE)
    bare = dict.fromkeys(("table", "mixing", "shares"))
    asked(reads="features", **bare).check(replace(people(PEOPLE, 0, [1]), neighbours=None), PEOPLE)


# Waves


def test_nobody_is_asked_in_both_waves() -> None:
    some = np.array([[0, 1]] * 4 + [[-1, -1]] * 5)
    rest = np.array([[-1, -1]] * 4 + [[0, 1]] * 5)
    private = people(PEOPLE, 0)
    first = LocalRelease((Question(asked(offers=some), MECHANISM),), PEOPLE)
    then = LocalRelease((Question(asked(PersonAgain, offers=rest), MECHANISM),), PEOPLE)
    one = first.perturb(private.take(np.arange(4)), SeededBits(0))
    both = one.joined(then.perturb(private.take(np.arange(4, NODES)), SeededBits(0)))
    assert both.release.guarantee().epsilon == 1.0
    assert len(both.users) == NODES
    rest[3] = [1, 2]  # who was asked is offered classes again
    greedy = LocalRelease((Question(asked(PersonAgain, offers=rest), MECHANISM),), PEOPLE)
    with pytest.raises(InvalidData, match="people who are not asked in the first wave, not person 3"):
        one.check_next(greedy, {"person-again": np.arange(4, NODES)})
    with pytest.raises(InvalidData, match="asked twice"):  # the offers say otherwise than who is asked
        one.check_next(then, {"person-again": np.arange(3, NODES)})


def test_a_promise_of_another_unit_never_takes_its_place() -> None:
    """A first wave about friends only does not hide a second one about everything."""
    release = LocalRelease((Question(Person(reads="friends"), MECHANISM), Question(PersonAgain(), MECHANISM)), PEOPLE)
    assert release.guarantee().unit == "friend list and person"
    assert release.price.bound(Unit.PERSON) == 2.0


def test_a_promise_survives_writing_and_reading() -> None:
    promise = Question(Person(), MECHANISM).guarantee()
    assert Guarantee.from_dict(promise.to_dict()) == promise
    question = Question(asked(), MECHANISM)
    again = Question.from_dict(question.to_dict(), Population(Schema.numeric(WIDTH, 0.0, 1.0, classes=CLASSES), NODES))
    attached = again.ask.attach(**{name: question.ask.blob(name) for name in ARRAYS})
    assert attached.to_dict() == question.ask.to_dict()


@pytest.mark.parametrize(
    ("reads", "unit"), [("everything", "feature vector and neighbour list bit"), ("friends", "neighbour list bit")]
)
def test_nothing_is_promised_of_a_whole_list_of_which_single_friends_are_counted(reads: str, unit: str) -> None:
    """The counts alone tell two whole lists apart with a loss of 8, by exact enumeration: 2 is true of one bit."""
    counts = Counts(epsilon=0.5, classes=2, cap=8)
    some, none = (counts.exact_distribution(friends) for friends in ((8, 0), (0, 8)))
    assert max(math.log(some[report][0] / none[report][1]) for report in some) == pytest.approx(8.0, abs=1e-9)
    asked_too = (Question(Person(reads=reads), OfferedResponse(epsilon=1.0)), Question(Friends(), counts))
    promise = LocalRelease(asked_too, PEOPLE).guarantee()
    assert (promise.epsilon, promise.unit, promise.relationship_epsilon) == (2.0, unit, 3.0)
    assert promise.in_words().startswith(f"An observer of the report can multiply their odds about the {unit} by")
    assert "friend lists" not in promise.adjacency
    assert "whole" not in promise.adjacency
