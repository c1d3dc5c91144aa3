"""The feature question: what a device computes, what it refuses, and that no choice of the server raises its price."""

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

from privet.errors import InvalidData, InvalidParameter, PrivetError
from privet.mechanisms import AnalyticGaussian, MultiBit, OfferedResponse, SeededBits
from privet.privacy import Unit
from privet.release import LocalRelease, PrivateData, Question
from privet.release.asks.features import Features
from privet.release.asks.resemblance import Resemblance, as_integers, linear_scores

PEOPLE = POPULATIONS["numeric"]
WIDTH, CLASSES = PEOPLE.dimension, PEOPLE.classes
MECHANISM = OfferedResponse(epsilon=1.0, most=CLASSES)
SCORER = np.random.default_rng(0).integers(-9, 10, (WIDTH + 1, CLASSES)).astype(np.int32)
OFFERS = np.array([[0, 1, 2], [0, 2, -1], [1, 2, -1]] * 3)


def asked(**fields: Any) -> Resemblance:
    return Resemblance(**{"scorer": SCORER, "offers": OFFERS, **fields})


@pytest.mark.parametrize("unit_length", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_answer_is_the_slow_argmax_over_the_offered_classes(unit_length: bool, sparse: bool) -> None:
    private = people(PEOPLE, 0)
    rows = private.features
    if sparse:
        private = replace(private, features=sp.csr_array(rows))
    found = asked(unit_length=unit_length).apply(private, MECHANISM)
    for row, offers, (position, options) in zip(rows, OFFERS, found, strict=True):
        values = row / np.linalg.norm(row) if unit_length else row
        scores = [values @ SCORER[:-1, c] + SCORER[-1, c] for c in offers if c >= 0]
        assert (position, options) == (int(np.argmax(scores)), len(scores))


def test_sparse_rows_have_the_scores_of_dense_ones() -> None:
    """Sparse features are never made dense, and give the same scores."""
    features = sp.csr_array((np.ones(3), ([0, 0, 0], [1, 5, 9])), shape=(1, 10))
    weights = np.arange(22, dtype=np.int32).reshape(11, 2)
    for unit_length in (False, True):
        dense = linear_scores(features.toarray(), weights, unit_length)
        np.testing.assert_allclose(linear_scores(features, weights, unit_length), dense)
        assert isinstance(linear_scores(features, weights, unit_length), np.ndarray)


@pytest.mark.parametrize("kind", ["dense", "sparse", "single precision", "other order"])
@pytest.mark.parametrize("unit_length", [False, True])
def test_scores_are_added_feature_by_feature(kind: str, unit_length: bool) -> None:
    """Bit for bit what a plain loop finds, as another language writes it; BLAS adds in other orders."""
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((5_000, 40)) * 10.0 ** rng.integers(-12, 12, (5_000, 40))
    rows[rng.random(rows.shape) < 0.3] = 0.0
    rows = rows.astype(np.float32).astype(np.float64) if kind == "single precision" else rows
    weights = rng.integers(-(1 << 20), 1 << 20, (41, 3)).astype(np.int32)
    given = {
        "dense": rows, "sparse": sp.csr_array(rows), "single precision": rows.astype(np.float32),
        "other order": np.asfortranarray(rows),
    }[kind]  # fmt: skip
    found = linear_scores(given, weights, unit_length)
    for row, scores in zip(rows[-50:], found[-50:], strict=True):
        for column, score in enumerate(scores.tolist()):
            total, squares = 0.0, 0.0
            for value, weight in zip(row.tolist(), weights[:-1, column].tolist(), strict=True):
                total += value * weight
                squares += value * value
            offset = float(weights[-1, column])
            assert score == total + (math.sqrt(squares) * offset if unit_length else offset)
    assert not np.array_equal(found[:, 0], rows @ weights[:-1, 0] + weights[-1, 0])  # the rows are able to tell


def test_a_person_without_features_has_an_answer() -> None:
    nobody = PrivateData(np.arange(NODES), features=np.zeros((NODES, WIDTH)))
    assert asked().apply(nobody, MECHANISM)[:, 0].max() < CLASSES


def test_a_function_is_a_scorer_too() -> None:
    private = people(PEOPLE, 0)
    found = asked(scorer=lambda rows: np.asarray(rows)[:, :CLASSES] ** 2).apply(private, MECHANISM)
    squares = private.features[:, :CLASSES] ** 2
    best = [int(np.argmax(squares[i][offers[offers >= 0]])) for i, offers in enumerate(OFFERS)]
    assert found[:, 0].tolist() == best
    assert asked(scorer=len).to_dict()["scorer"] == "function"
    with pytest.raises(InvalidData, match="one row with a score for each class"):
        asked(scorer=lambda rows: np.zeros((2, 3))).apply(private, MECHANISM)


def test_a_function_never_sees_two_people_at_once() -> None:
    seen: list[int] = []

    def counting(rows: Any) -> Any:
        seen.append(len(rows))
        return np.asarray(rows)[:, :CLASSES]

    asked(scorer=counting).apply(people(PEOPLE, 0), MECHANISM)
    assert set(seen) == {1}


def test_whoever_is_offered_fewer_than_two_classes_is_not_asked() -> None:
    ask = asked(offers=np.array([[0, 1], [1, -1], [-1, -1], [0, 2]] + [[-1, -1]] * 5))
    assert ask.people() is not None
    assert ask.people().tolist() == [0, 3]  # type: ignore[union-attr]
    assert ask.options().tolist()[:4] == [2, 1, 0, 2]
    assert Resemblance().people() is None
    with pytest.raises(InvalidData, match="offered fewer than two classes"):
        ask.apply(people(PEOPLE, 0), MECHANISM)


def test_integers_keep_the_order_of_scores() -> None:
    weights = np.random.default_rng(3).normal(size=(7, 4)) * 1e-5
    whole = as_integers(weights)
    assert whole.dtype == np.int32
    assert np.abs(whole).max() == 1 << 20
    np.testing.assert_allclose(whole / np.abs(whole).max(), weights / np.abs(weights).max(), atol=1e-6)
    assert not as_integers(np.zeros((2, 2))).any()


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"scorer": SCORER.astype(float)}, "a matrix of integers, or a function"),
        ({"scorer": SCORER[0]}, "a matrix of integers, or a function"),
        ({"offers": OFFERS[0]}, "a matrix of classes"),
        ({"offers": OFFERS.astype(float)}, "a matrix of classes"),
        ({"offers": np.array([[1, 0]])}, "ascending classes"),
        ({"offers": np.array([[1, 1]])}, "ascending classes"),
        ({"offers": np.array([[-1, 1]])}, "ascending classes"),
        ({"offers": np.array([[0, -2]])}, "ascending classes"),
    ],
)
def test_tables_that_say_nothing_are_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        asked(**fields)


class Untouched(SeededBits):
    """Bits of which none may be drawn."""

    def below(self, *_: Any) -> Any:
        pytest.fail("a refused question was answered")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"scorer": SCORER[:-1]}, "scorer must be 5 rows, not 4 rows: one a feature, and offsets"),
        ({"scorer": np.vstack([SCORER, SCORER])}, "scorer must be 5 rows"),
        ({"offers": np.tile([0, 3], (NODES, 1))}, "offered classes must be .*below 3"),
        ({"offers": np.tile([0, -1], (NODES, 1))}, "offered fewer than two classes"),
        ({"offers": None}, "its public 'offers' is not drawn up yet"),
        ({"scorer": None}, "its public 'scorer' is not drawn up yet"),
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


def test_offers_over_other_people_are_refused_on_the_device() -> None:
    with pytest.raises(InvalidData, match=f"for each of {NODES} people"):
        asked(offers=OFFERS[:-1]).check(people(PEOPLE, 0, [1]), PEOPLE)
    asked().check(people(PEOPLE, 0, [1]), PEOPLE)


def test_only_a_choice_among_options_randomises_it() -> None:
    with pytest.raises(InvalidParameter, match="'offered-response'"):
        Question(Resemblance(), MultiBit.declare(PEOPLE, epsilon=1.0))
    with pytest.raises(InvalidParameter, match="randomises vectors"):
        Question(Features(), MECHANISM)


QUESTION = Question(asked(), MECHANISM)
PILOT = Question(Features(), MultiBit.declare(PEOPLE, epsilon=3.0))


@pytest.mark.parametrize("questions", [(QUESTION, PILOT), (PILOT, QUESTION)])
def test_pilot_and_question_cost_the_dearer_of_them_and_nobody_is_in_both(questions: tuple[Question, ...]) -> None:
    release, private = LocalRelease(questions, PEOPLE), people(PEOPLE, 0)
    assert release.guarantee().epsilon == release.price.epsilon == 3.0
    some = {"features": np.arange(4), "resemblance": np.arange(4, NODES)}
    assert len(release.perturb(private, SeededBits(0), some).users) == NODES
    for twice in (None, {"features": np.arange(4)}, {"features": np.arange(5), "resemblance": np.arange(4, NODES)}):
        with pytest.raises(InvalidData, match=r"'resemblance' must be for people who are not asked 'features'.*twice"):
            release.perturb(private, Untouched(0), twice)
    nameless = LocalRelease(questions, replace(PEOPLE, num_nodes=0))  # a schema alone stands for any number of people
    with pytest.raises(InvalidData, match="asked twice"):
        nameless.perturb(private, Untouched(0))


def test_the_promise_covers_a_pilot_with_a_delta() -> None:
    noisy = Question(Features(), AnalyticGaussian.declare(PEOPLE, epsilon=0.5, delta=1e-3))
    promise = LocalRelease((noisy, QUESTION), PEOPLE).guarantee()
    assert (promise.epsilon, promise.delta, promise.unit) == (1.0, 1e-3, Unit.FEATURES)


def test_rounds_of_answers_join_if_nobody_was_asked_twice() -> None:
    private = people(PEOPLE, 0)
    first = LocalRelease((PILOT,), PEOPLE).perturb(private.take(np.arange(4)), SeededBits(0))
    second = LocalRelease((QUESTION,), PEOPLE)
    both = first.joined(second.perturb(private.take(np.arange(4, NODES)), SeededBits(0)))
    assert both.release.guarantee().epsilon == 3.0
    with pytest.raises(InvalidData, match="person 3, asked twice"):
        first.joined(second.perturb(private.take(np.arange(3, NODES)), SeededBits(0)))
    with pytest.raises(InvalidData, match="not asked before"):
        both.joined(first)


# A dishonest server: whatever it publishes, the exact distribution of an answer moves by e^epsilon at most.

GRID = np.array(list(itertools.product((0.0, 0.5, 1.0), repeat=2)))
BOUND = 1 + Fraction(1, 10**12)


def worst_ratio(ask: Resemblance, mechanism: OfferedResponse) -> Fraction:
    """The largest likelihood ratio of any report between any two feature vectors of the grid."""
    everybody = PrivateData(np.zeros(len(GRID), dtype=np.int64), features=GRID)
    values = {tuple(value) for value in ask.apply(everybody, mechanism).tolist()}
    found = Fraction(1)
    for one, other in itertools.permutations(values, 2):
        first, second = (mechanism.exact_distribution(value) for value in (one, other))
        assert first.keys() == second.keys()
        found = max(found, *(first[report][0] / second[report][0] for report in first))
    return found


@thorough
@given(
    weights=st.lists(st.integers(-(2**31), 2**31 - 1), min_size=12, max_size=12),
    offered=st.sets(st.integers(0, 3), min_size=2),
    epsilon=st.sampled_from([0.1, 1.0, 4.0]),
    unit_length=st.booleans(),
)
def test_no_linear_scorer_and_no_offer_raises_the_price(
    weights: list[int], offered: set[int], epsilon: float, unit_length: bool
) -> None:
    scorer = np.array(weights, dtype=np.int32).reshape(3, 4)
    offers = np.array([sorted(offered) + [-1] * (4 - len(offered))])
    ask = Resemblance(scorer=scorer, offers=offers, unit_length=unit_length)
    assert worst_ratio(ask, OfferedResponse(epsilon=epsilon, most=4)) <= Fraction(exp(epsilon)) * BOUND


def spiteful(rows: NDArray[Any]) -> NDArray[Any]:
    """Scores without bounds, some of them no numbers."""
    with np.errstate(all="ignore"):
        return np.stack([np.log(rows[:, 0] - 0.5), 1e308 / rows[:, 1], -rows[:, 0] / rows[:, 1], rows[:, 1]], axis=1)


@pytest.mark.parametrize("offered", [o for size in (2, 3, 4) for o in itertools.combinations(range(4), size)])
@pytest.mark.parametrize(
    "scorer",
    [
        spiteful,
        lambda rows: np.stack([rows[:, 0] == 0.5, rows[:, 1], rows[:, 0], rows[:, 0] < rows[:, 1]], axis=1),
        lambda rows: np.full((len(rows), 4), -np.inf),
        lambda rows: np.array([[hash((tuple(row), c)) % 97 for c in range(4)] for row in rows]),
    ],
)
def test_no_function_raises_the_price(scorer: Any, offered: tuple[int, ...]) -> None:
    ask = Resemblance(scorer=scorer, offers=np.array([[*offered, *[-1] * (4 - len(offered))]]))
    assert worst_ratio(ask, OfferedResponse(epsilon=0.7, most=4)) <= Fraction(exp(0.7)) * BOUND


def test_a_scorer_made_from_other_peoples_answers_does_not_raise_the_price() -> None:
    """Two rounds, enumerated together: one person's answer decides the next one's scorer and offer."""
    mechanism = OfferedResponse(epsilon=0.8, most=3)
    first = Resemblance(scorer=np.array([[1, 0, 2], [0, 1, 0], [0, 0, -1]]), offers=np.array([[0, 1, 2], [0, 1, 2]]))
    rng = np.random.default_rng(0)
    chosen = {  # what the server sends the second person after each answer of the first
        report: Resemblance(scorer=rng.integers(-5, 6, (3, 3)), offers=np.tile(sorted(offered), (2, 1)))
        for report, offered in zip(mechanism.exact_distribution((0, 3)), [(0, 1), (1, 2), (0, 1, 2)], strict=True)
    }

    def transcript(one: NDArray[Any], other: NDArray[Any]) -> dict[tuple[int, int], Fraction]:
        found = {}
        told = first.apply(PrivateData(np.array([0]), features=one[None]), mechanism)[0]
        for report, (chance, _) in mechanism.exact_distribution(told).items():
            then = chosen[report].apply(PrivateData(np.array([1]), features=other[None]), mechanism)[0]
            for answer, (next_chance, _) in mechanism.exact_distribution(then).items():
                found[report, answer] = chance * next_chance
        return found

    limit, largest = Fraction(exp(0.8)) * BOUND, Fraction(1)
    for fixed, (one, other) in itertools.product(GRID, itertools.combinations(GRID, 2)):
        for pair in (((one, fixed), (other, fixed)), ((fixed, one), (fixed, other))):
            left, right = (transcript(*each) for each in pair)
            ratios = [left[key] / right[key] for key in left]
            assert 1 / limit <= min(ratios)
            assert max(ratios) <= limit
            largest = max(largest, *ratios)
    assert largest > Fraction(exp(0.7))  # the bound is reached, so the enumeration sees answers change


def test_the_whole_round_draws_from_that_distribution() -> None:
    """Answers on simulated devices are as frequent as the enumeration says."""
    rows = 40_000
    crowd = PrivateData(np.zeros(rows, dtype=np.int64), features=np.tile([1.0, 0.0], (rows, 1)))
    ask = Resemblance(scorer=np.array([[0, 3, 1], [0, 0, 0], [0, 0, 0]]), offers=np.array([[0, 1, 2]]))
    mechanism = OfferedResponse(epsilon=1.0, most=3)
    positions, _ = mechanism.decode(Question(ask, mechanism).perturb(crowd, SeededBits(0)))
    exact = mechanism.exact_distribution((1, 3))
    np.testing.assert_allclose(
        np.bincount(positions, minlength=3) / rows, [float(low) for low, _ in exact.values()], atol=0.01
    )
