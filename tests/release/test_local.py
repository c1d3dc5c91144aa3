"""A release's promise by unit, its cost, its lines, what it refuses, and its form in a manifest."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_releases import NODES, POPULATIONS, Followers, people, releases
from thorough import thorough

from privet.data import Schema
from privet.errors import InvalidData, InvalidParameter, PrivetError
from privet.mechanisms import (
    AdjacencyResponse,
    AnalyticGaussian,
    DegreeResponse,
    MultiBit,
    RandomizedResponse,
    SeededBits,
)
from privet.privacy import Unit
from privet.privacy.rounding import at_most
from privet.release import LocalRelease, PrivateData, Question
from privet.release.asks.features import Features
from privet.release.asks.label import Label
from privet.release.asks.length import Length
from privet.release.asks.neighbours import Neighbours

PEOPLE = POPULATIONS["numeric"]
FEATURES = Question(Features(), MultiBit.declare(PEOPLE, epsilon=1.0))
LABEL = Question(Label(), RandomizedResponse.declare(PEOPLE, epsilon=0.5))
LIST = Question(Neighbours(), AdjacencyResponse.declare(PEOPLE, epsilon=2.0, one_sided=True))
LENGTH = Question(Length(), DegreeResponse.declare(PEOPLE, epsilon=0.25, one_sided=True))


def release(*questions: Question) -> LocalRelease:
    return LocalRelease(questions, PEOPLE)


def charged_once(questions: Sequence[Question]) -> list[list[Question]]:
    """The two rounds of the friend question together, and every other question alone."""
    rounds = [question for question in questions if question.name.startswith("friends")]
    return [[question] for question in questions if question not in rounds] + ([rounds] if rounds else [])


def test_answers_of_one_unit_add_and_units_join() -> None:
    lists = release(LIST, LENGTH).guarantee()
    assert (lists.unit, lists.epsilon) == (Unit.RELATIONSHIP, 4.5)
    both = release(FEATURES, LIST, LABEL, LENGTH).guarantee()
    assert both.unit == "feature vector and relationship and label"
    assert both.epsilon == 6.0
    assert release(FEATURES).guarantee().unit == Unit.FEATURES


@thorough
@given(chosen=releases())
def test_the_price_in_words_is_the_price_in_figures(chosen: LocalRelease) -> None:
    promise = chosen.guarantee()
    lists = [question for question in chosen.questions if question.ask.unit.covers(Unit.NEIGHBOUR_BIT)]
    sentences = [text for text in promise.unprotected if "relationship costs" in text]
    if not lists:
        assert promise.relationship_epsilon is None
        assert not sentences
        return
    price = promise.relationship_epsilon
    assert price == pytest.approx(
        math.fsum(max(each.guarantee().relationship_epsilon for each in same) for same in charged_once(lists))
    )
    assert sentences == [
        f"one relationship costs an epsilon of {at_most(price)}; k relationships of one person at once cost at "
        "most k times as much"
    ]
    doubled = promise + promise
    assert doubled.relationship_epsilon == pytest.approx(2 * price)
    (sentence,) = (text for text in doubled.unprotected if "relationship costs" in text)
    assert f"an epsilon of {at_most(doubled.relationship_epsilon)};" in sentence


@thorough
@given(chosen=releases())
def test_cost_lines_and_guarantee_agree(chosen: LocalRelease) -> None:
    lines = chosen.lines()
    assert [line.part for line in lines] == [question.ask.part for question in chosen.questions]
    promise = chosen.guarantee()
    charged = [[each.line() for each in same] for same in charged_once(chosen.questions)]
    epsilons = [max(line.epsilon for line in same) for same in charged]
    assert math.fsum(epsilons) == pytest.approx(promise.epsilon)
    assert math.fsum(max(line.delta for line in same) for same in charged) == pytest.approx(promise.delta)
    assert (promise.epsilon, promise.delta) == (chosen.price.epsilon, chosen.price.delta)
    assert promise.epsilon >= math.fsum(epsilons)  # rounded up, never down


def test_a_delta_that_exposes_people_on_average_is_named() -> None:
    noisy = Question(Features(), AnalyticGaussian.declare(PEOPLE, epsilon=0.5, delta=1e-3))
    assert not any("altogether" in text for text in release(noisy).guarantee().unprotected)
    many = replace(PEOPLE, num_nodes=1000)
    (told,) = (text for text in LocalRelease((noisy,), many).guarantee().unprotected if "altogether" in text)
    assert "0.001 times 1,000 people is 1," in told


def test_people_who_show_their_data_are_exempt() -> None:
    shown = replace(release(FEATURES), exempt=("the panel",))
    assert shown.guarantee().in_words().endswith("by at most 2.72. This does not hold for the panel.")


def test_what_the_operator_knows_already_is_named() -> None:
    def known(*questions: Question) -> str:
        return " ".join(text for text in release(*questions).guarantee().unprotected if "operator" in text)

    assert "classes" in known(FEATURES)
    assert "linked" in known(FEATURES)
    assert "classes" not in known(FEATURES, LABEL)
    for question in (LIST, LENGTH):
        assert "linked" not in known(FEATURES, question)
    nobody = replace(PEOPLE, schema=Schema.numeric(4, 0.0, 1.0))
    assert "classes" not in " ".join(LocalRelease((FEATURES,), nobody).guarantee().unprotected)


@pytest.mark.parametrize("questions", [(FEATURES, FEATURES), (LIST, LABEL, LIST)])
def test_a_question_is_asked_once(questions: tuple[Question, ...]) -> None:
    with pytest.raises(InvalidParameter, match="different ones, each asked once"):
        release(*questions)


def test_a_release_without_questions_asks_nobody_for_anything() -> None:
    nothing = release()
    assert nothing.guarantee().epsilon == nothing.price.epsilon == nothing.price.delta == 0.0
    assert nothing.lines() == ()
    answers = nothing.perturb(people(PEOPLE, 0), SeededBits(0))
    assert len(answers) == len(answers.users) == 0


def test_an_unknown_question_is_named() -> None:
    with pytest.raises(InvalidParameter, match=r"one of features, label.*colour"):
        release(FEATURES, LABEL).question("colour")
    assert not release(FEATURES).asks("colour")
    assert release(LENGTH).asks_about(Unit.NEIGHBOUR_BIT)
    assert not release(LENGTH).asks_about(Unit.LABEL)


@given(chosen=releases(extra_lists=False))
def test_a_manifest_makes_the_same_release_again(chosen: LocalRelease) -> None:
    document = json.loads(json.dumps(chosen.to_list()))
    again = LocalRelease.from_list(document, chosen.population)
    assert again == chosen
    assert again.matches(chosen)
    assert chosen.matches(again)
    assert again.guarantee() == chosen.guarantee()


def test_budgets_that_differ_by_rounding_match_and_others_do_not() -> None:
    def features(**changes: Any) -> LocalRelease:
        return release(Question(Features(), MultiBit.declare(PEOPLE, **{"epsilon": 0.3, **changes})))

    assert features().matches(features(epsilon=0.1 + 0.2))
    for other in (features(epsilon=0.3 + 1e-9), features(sample=2), release(FEATURES, LABEL), release(LABEL)):
        assert not features().matches(other)
        assert not other.matches(features())
    assert not release(FEATURES, LABEL).matches(release(LABEL, FEATURES))


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        (None, "a list"),
        ({"ask": "label"}, "a list"),
        ([3], "an object with 'ask' and 'mechanism'"),
        ([{"ask": "label"}], "an object with 'ask' and 'mechanism'"),
        ([{"ask": "colour", "mechanism": "hds"}], "friends, friends-again, label.*resemblance"),
        ([{"ask": "label", "mechanism": "dice"}], "one of adjacency-response, "),
        ([{"ask": "label", "mechanism": "randomized-response"}], "cannot be made"),
        ([{"ask": "label", "mechanism": "randomized-response", "epsilon": 1, "sides": 6}], "sides"),
        ([{"ask": "label", "mechanism": "randomized-response", "epsilon": 1, 3: 6}], "cannot be made"),
        ([{"ask": "label", "mechanism": "randomized-response", "epsilon": 1, "classes": 9}], "cannot be made"),
        ([{"ask": "label", "mechanism": "randomized-response", "epsilon": "much"}], "finite number above 0"),
        ([{"ask": "label", "mechanism": "randomized-response", "epsilon": -1}], "finite number above 0"),
        ([{"ask": "label", "mechanism": "multi-bit", "epsilon": 1}], "needs a mechanism that protects a label"),
        ([{"ask": "features", "mechanism": "sampled-response", "epsilon": 1}], "categorical"),
        ([{"ask": "features", "mechanism": "multi-bit", "epsilon": 1, "sample": [1]}], "sample"),
        ([{"ask": "neighbours", "mechanism": "adjacency-response", "epsilon": 1, "one_sided": "no"}], "True or False"),
        ([{"ask": "neighbours", "mechanism": "degree-response", "epsilon": 1}], "'neighbours' needs a mechanism"),
        ([{"ask": "length", "mechanism": "adjacency-response", "epsilon": 1}], "'length' needs a mechanism"),
        ([{"ask": "label", "mechanism": "randomized-response", "epsilon": 1}] * 2, "each asked once"),
    ],
)  # fmt: skip
def test_other_manifests_are_refused_in_one_sentence(document: Any, sentence: str) -> None:
    with pytest.raises(PrivetError, match=sentence) as refusal:
        LocalRelease.from_list(document, PEOPLE)
    assert "\n" not in str(refusal.value)


def test_some_people_are_asked_some_questions() -> None:
    asked = {"label": np.array([1, 4])}
    answers = release(FEATURES, LABEL).perturb(people(PEOPLE, 0), SeededBits(0), asked)
    assert answers["features"].users.tolist() == list(range(NODES))
    assert answers["label"].users.tolist() == [1, 4]
    assert answers.users.tolist() == list(range(NODES))


def test_a_seed_repeats_and_another_does_not() -> None:
    whole, data = release(FEATURES, LIST, LABEL), people(PEOPLE, 0)
    first, again, other = (whole.wire.pack(whole.perturb(data, SeededBits(seed))) for seed in (0, 0, 1))
    assert first == again
    assert first != other


def test_answers_that_do_not_fit_are_found_before_anything_is_spent() -> None:
    whole = release(FEATURES, LABEL, LIST)
    good = {"user": 2, "num_nodes": NODES, "features": [0.0, 0.1, 3.0, 4.0], "label": 2, "neighbours": [0, 5]}
    whole.check(PrivateData.one(**good))
    for wrong in ({"user": NODES}, {"user": -1}, {"features": [0.0]}, {"label": 3}, {"neighbours": [2]}):
        with pytest.raises(InvalidData):
            whole.check(PrivateData.one(**{**good, **wrong}))
    release(FEATURES).check(PrivateData.one(**{**good, "label": None}))  # what is not asked for is not needed


@given(seed=st.integers(0, 99))
def test_lists_of_different_names_have_answers_of_their_own(seed: int) -> None:
    more = release(LIST, Question(Followers(), LIST.mechanism))
    answers = more.perturb(people(PEOPLE, seed), SeededBits(seed))
    assert set(answers) == {"neighbours", "followers"}
    assert more.guarantee().epsilon == 8.0
