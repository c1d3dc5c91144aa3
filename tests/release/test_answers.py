from __future__ import annotations

import numpy as np
import pytest
from random_releases import NODES, POPULATIONS, people

from privet.errors import InvalidReports
from privet.mechanisms import AdjacencyResponse, MultiBit, RandomizedResponse, Reports, SeededBits
from privet.release import Answer, Answers, LocalRelease, Question
from privet.release.asks.features import Features
from privet.release.asks.label import Label
from privet.release.asks.neighbours import Neighbours

PEOPLE = POPULATIONS["numeric"]
RELEASE = LocalRelease(
    (
        Question(Features(), MultiBit.declare(PEOPLE, epsilon=1.0)),
        Question(Label(), RandomizedResponse.declare(PEOPLE, epsilon=1.0)),
        Question(Neighbours(), AdjacencyResponse.declare(PEOPLE, epsilon=1.0)),
    ),
    PEOPLE,
)


@pytest.fixture
def answers() -> Answers:
    return RELEASE.perturb(people(PEOPLE, 0, [5, 1, 7]), SeededBits(0))


def test_checked_answers_are_in_the_order_of_ids(answers: Answers) -> None:
    checked = answers.checked()
    for name in answers:
        assert checked[name].users.tolist() == [1, 5, 7]
        assert checked[name].reports == answers[name].reports.take(np.array([1, 0, 2]))
    assert checked.checked()["label"].reports == checked["label"].reports


@pytest.mark.parametrize("users", [[5, 1, NODES], [5, 1, -1], [5, 1, 5], [5.0, 1.0, 7.0], [[5], [1], [7]]])
def test_ids_that_nobody_has_and_second_answers_are_refused(answers: Answers, users: list) -> None:
    part = Answer(np.array(users), answers["label"].reports)
    with pytest.raises(InvalidReports, match=f"different ids below {NODES}"):
        answers.with_part("label", part).checked()


@pytest.mark.parametrize("users", [[5], [5, 1], [5, 1, 7, 8], []])
@pytest.mark.parametrize("name", ["features", "label", "neighbours"])
def test_every_report_has_its_sender(answers: Answers, name: str, users: list[int]) -> None:
    part = Answer(np.array(users, dtype=np.int64), answers[name].reports)
    with pytest.raises(InvalidReports, match=f"reports to '{name}' must be one for each of {len(users)} nodes"):
        answers.with_part(name, part).checked()


def test_a_list_names_its_own_sender(answers: Answers) -> None:
    lists = Answer(np.array([5, 1, 8]), answers["neighbours"].reports)
    with pytest.raises(InvalidReports, match="other nodes than those that sent"):
        answers.with_part("neighbours", lists).checked()


def test_foreign_symbols_are_refused(answers: Answers) -> None:
    users = answers["label"].users
    for symbols in ([[0], [1], [3]], [[0], [-1], [1]]):
        foreign = Answer(users, Reports(1, np.array(symbols, dtype=np.int8)))
        with pytest.raises(InvalidReports, match="cannot have sent"):
            answers.with_part("label", foreign).checked()
    with pytest.raises(InvalidReports, match="lists about"):
        answers.with_part("neighbours", answers["features"]).checked()
    with pytest.raises(InvalidReports, match="symbols"):
        answers.with_part("features", answers["neighbours"]).checked()


def test_every_question_has_an_answer_and_no_other(answers: Answers) -> None:
    for parts in ({"label": answers["label"]}, {**answers.parts, "colour": answers["label"]}, {}):
        with pytest.raises(InvalidReports, match="must answer features, label, neighbours"):
            Answers(RELEASE, parts).checked()


def test_rows_are_taken_and_dealt(answers: Answers) -> None:
    labels = answers["label"]
    assert labels.take(np.array([2])).users.tolist() == [7]
    dealt = labels.dealt(np.array([2, 0, 1]))
    assert np.array_equal(dealt.users, labels.users)
    assert np.array_equal(dealt.reports.symbols[:, 0], labels.reports.symbols[[2, 0, 1], 0])
    assert answers.users.tolist() == [1, 5, 7]
    assert len(answers) == len(labels) == 3
