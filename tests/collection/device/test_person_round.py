"""A device in a study that asks for everything on it in one answer: words, ledger, waves and a dishonest server."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from made_rounds import DIRECTORY, LABEL, ME, NODES, SCHEMA, Server, first_round, friends, later_round

from privet.collection.device.charges import NotAsked, Refusal
from privet.collection.device.consent import describe
from privet.collection.device.counted import friends_in_words
from privet.collection.device.ledger import Ledger
from privet.collection.device.participant import Participant, PrivateAnswers
from privet.collection.device.preparation import Prepared, prepare
from privet.collection.operator.dpia.assessment import impact_assessment
from privet.collection.study.chain import Chain
from privet.mechanisms import OfferedResponse, SeededBits
from privet.privacy import Unit
from privet.release import Question
from privet.release.asks.person import Person
from privet.release.asks.person_again import PersonAgain

NOW = first_round().opens
TABLE = np.zeros((NODES, 3), dtype=np.uint8)
TABLE[20:] = np.eye(3, dtype=np.uint8)[np.arange(20, NODES) % 3] * 255
FIRST = np.tile(np.array([0, 1, 2], dtype=np.int16), (NODES, 1))
FIRST[15:] = -1
REST = np.where(FIRST < 0, [[0, 1, 2]], -1).astype(np.int16)
RNG = np.random.default_rng(0)
ARRAYS: dict[str, Any] = {
    "scorer": RNG.integers(-9, 9, (SCHEMA.dimension + 1, 3)).astype(np.int32),
    "table": TABLE,
    "mixing": (np.eye(3) * 100).astype(np.int32),
    "shares": np.array([1, 1, 1], dtype=np.int32),
}
ANSWERS = PrivateAnswers([1.0, 2.0, 3.0, 4.0], neighbours=[20, 23, 25, 3])


def person(kind: type[Person] = Person, offers: Any = FIRST, **changes: Any) -> Question:
    return Question(kind(offers=offers, **{**ARRAYS, **changes}), OfferedResponse(epsilon=1.5, most=3))


PLAN = {"system": "inquiry", "settings": {"seed": 0}}
PLAN["questions"] = [LABEL, person().declared(), person(PersonAgain).declared()]


def waves(*questions: Question) -> tuple[list[Any], Server]:
    rounds = [first_round(plan=PLAN)]
    for question in questions:
        rounds.append(later_round(rounds[-1], question))
    return rounds, Server.of(*rounds, questions=questions)


def test_consent_speaks_of_everything_at_once() -> None:
    rounds, server = waves(person())
    told = describe(rounds[-1], Ledger(":memory:"), prepare(rounds[-1], ME, server))
    for words in (
        "Whatever you answer and whoever your friends are, an observer of the report can multiply their odds about the "
        "person by at most 4.49.",
        "Epsilon 1.5, delta 0, for: person.",
        "your friends: which of the 29 others they are",
        "Answers and friends stay here; this device finds out which of a few groups they point to most.",
        "A friendship is on two devices: if your friend answers, too, both answers together cost it an epsilon of 3",
        "(offered-response, epsilon 1.5 for everything together)",
        "one relationship costs an epsilon of 3; k relationships of one person at once cost at most k times as much",
        "Of your lifetime budget: 1.5.",
        "All rounds that the study announces would cost an epsilon of 2.5 together",
    ):
        assert words in told, words
    assert "counts twice" not in told


def test_a_panel_is_asked_for_its_friends_and_told_so() -> None:
    first = first_round(plan=PLAN)
    ready = prepare(first, 2, Server.of(first))
    assert ready.shows
    assert "your friends: which of the 29 others they are" in describe(first, None, ready)
    assert (
        "who show their features, class and friends as they are, and their friendships" in first.guarantee().in_words()
    )
    assert any("a friendship with one of them is shown as it is" in text for text in first.guarantee().unprotected)
    features = first_round(plan={**PLAN, "questions": [LABEL, person(reads="friends").declared()]})
    assert "your friends" not in describe(features, None, prepare(features, 2, Server.of(features)))
    device = Participant(Ledger(":memory:"), SeededBits(0))
    device.agree(first, shows=True)
    reply = device.answer(first, 2, replace(ANSWERS, label=1), now=NOW, prepared=ready)
    assert reply.symbols() == {"features": [1.0, 2.0, 3.0, 4.0], "label": 1, "neighbours": [3, 20, 23, 25]}


def test_the_assessment_knows_a_whole_list() -> None:
    rounds, _ = waves(person())
    text = impact_assessment(Chain(tuple(rounds)))
    assert "an epsilon of 3 for one relationship, at most k times that for k" in text
    assert "The epsilon holds for a person's whole friend list at once." in text
    assert "| person: all that a device says about its owner's features and friends together | 1.5 |" in text


def test_friends_in_groups_are_told_to_the_owner_alone() -> None:
    rounds, server = waves(person())
    ready = prepare(rounds[-1], ME, server)
    (told,) = friends_in_words(ready, [20, 23, 25, 3])
    assert told == (
        "Of your friends, 1 in group 1 and 2 in group 2. 1 is not counted in this round. They are counted on this "
        "device, and the counts are not sent."
    )
    assert friends_in_words(ready, [])[0].startswith("None of your friends")
    counting = Prepared(ready.chain, ME, replace(ready.release, questions=(friends(),)))
    assert "the counts are sent with random noise" in friends_in_words(counting, [20, 21])[0]
    asked = person(reads="features", table=None, mixing=None, shares=None)
    assert friends_in_words(replace(ready, release=replace(ready.release, questions=(asked,))), [20]) == []


def test_a_device_answers_one_wave_and_pays_once() -> None:
    rounds, server = waves(person(), person(PersonAgain, REST))
    device = Participant(Ledger(":memory:"), SeededBits(0))
    _, second, third = rounds
    device.agree(second)
    reply = device.answer(second, ME, ANSWERS, now=NOW, prepared=prepare(second, ME, server))
    assert (len(reply.body), device.ledger.spent) == (1, 1.5)
    with pytest.raises(NotAsked, match="not asked the question 'person-again'"):
        prepare(third, ME, server)
    later = Participant(Ledger(":memory:"), SeededBits(0))
    later.agree(third)
    assert len(later.answer(third, 18, ANSWERS, now=NOW, prepared=prepare(third, 18, _for(server, 18))).body) == 1
    assert later.ledger.spent == 1.5


def _for(server: Server, node: int) -> Any:
    class Other:
        blob = staticmethod(server.blob)

        @staticmethod
        def invitation(study: str) -> bytes:
            return server.invitation(study, node)

    return Other()


def test_a_server_that_asks_twice_is_refused() -> None:
    rounds, server = waves(person(), person(PersonAgain, FIRST))
    device = Participant(Ledger(":memory:"), SeededBits(0))
    device.agree(rounds[1])
    device.answer(rounds[1], ME, ANSWERS, now=NOW, prepared=prepare(rounds[1], ME, server))
    device.agree(rounds[2])
    with pytest.raises(Refusal, match="You have answered 'person' in an earlier round"):
        device.answer(rounds[2], ME, ANSWERS, now=NOW, prepared=prepare(rounds[2], ME, server))
    assert device.ledger.spent == 1.5


@pytest.mark.parametrize("name", ["scorer", "table", "mixing", "shares"])
def test_another_table_than_the_manifest_s_is_refused(name: str) -> None:
    rounds, server = waves(person())
    ask = rounds[-1].release.question("person").ask
    server.blobs[getattr(ask, name).removeprefix("sha256:")] = b"|u1 (1, 1) \1"
    with pytest.raises(Refusal, match=f"'{name}' of the question 'person' is not the one that the study binds"):
        prepare(rounds[-1], ME, server)


def test_arrays_that_are_not_read_need_not_be_bound_and_others_must() -> None:
    plan = {**PLAN, "questions": [LABEL, person(reads="friends").declared()]}
    first = first_round(plan=plan)
    bare = later_round(first, person(reads="friends", scorer=None))
    server = Server.of(first, bare, questions=())
    question = person(reads="friends", scorer=None)
    for each in ("table", "mixing", "shares"):
        digest = question.ask.digest(each).removeprefix("sha256:")
        server.blobs[digest] = question.ask.blob(each)
    server.tables["person", "offers"] = FIRST
    ready = prepare(bare, ME, server)
    assert ready.release.guarantee().unit == Unit.FRIEND_LIST
    device = Participant(Ledger(":memory:"), SeededBits(0))
    device.agree(bare)
    assert len(device.answer(bare, ME, PrivateAnswers(neighbours=[20]), now=NOW, prepared=ready).body) == 1
    document = json.loads(bare.canonical())
    document["release"][0]["table"] = None
    unbound = type(bare).read(document)
    with pytest.raises(Refusal, match="does not bind the 'table' of the question 'person'"):
        prepare(unbound, ME, server)
    assert DIRECTORY.digest == bare.directory
