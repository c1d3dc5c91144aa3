"""A dishonest server: every try is refused with a sentence, before anything is made."""

import json
from dataclasses import replace

import numpy as np
import pytest
from made_rounds import (
    DIRECTORY,
    ME,
    NODES,
    OFFERS,
    PANEL,
    PLAN,
    SCORER,
    TABLE,
    Server,
    chain_of_three,
    first_round,
    friends,
    friends_again,
    later_round,
    resemblance,
)

from privet.collection.device.charges import NotAsked, Refusal
from privet.collection.device.ledger import Ledger, OtherNode
from privet.collection.device.participant import Participant, PrivateAnswers
from privet.collection.device.preparation import prepare
from privet.collection.study.chain import BrokenChain
from privet.collection.study.directory import Directory
from privet.collection.study.forms import RoundForm
from privet.release.blobs import blob_of
from privet.release.tree import tree_root

PRIVATE = PrivateAnswers([1.0, 2.0, 3.0, 4.0], 1, [0, 20, 21, 24])


@pytest.fixture
def device():
    ledger = Ledger(":memory:")
    ledger.limit = 100.0
    return Participant(ledger)


def answered(device, study, server, node=ME):
    device.agree(study, shows=True)
    return device.answer(study, node, PRIVATE, prepared=prepare(study, node, server))


def test_an_honest_server_is_answered_in_every_round(device):
    chain, server = chain_of_three()
    spent = []
    for study, question in zip(chain.rounds, (None, friends(), resemblance()), strict=True):
        reply = answered(device, study, server)
        release = study.release if question is None else replace(study.release, questions=(question,))
        answers, _ = RoundForm(study, release).split([ME], [reply.body])
        assert answers.users.tolist() == [ME]
        spent.append(device.ledger.spent)
        assert answered(device, study, server).body == reply.body
    assert spent == [1, 3, 4]


@pytest.mark.parametrize(("places", "price"), [((0, 2), 2), ((1, 2), 3), ((2,), 1)])
def test_any_subset_of_rounds_may_be_answered(device, places, price):
    chain, server = chain_of_three()
    for place in places:
        answered(device, chain.rounds[place], server)
    assert device.ledger.spent == price


def test_a_round_is_not_answered_after_a_later_one(device):
    """It is closed by then, unless somebody is up to something."""
    chain, server = chain_of_three()
    answered(device, chain.rounds[2], server)
    with pytest.raises(Refusal, match="does not follow"):
        answered(device, chain.rounds[0], server)


def test_the_panel_shows_and_is_charged_nothing(device):
    first = first_round()
    reply = answered(device, first, Server.of(first), int(PANEL[0]))
    assert reply.symbols() == {"features": [1.0, 2.0, 3.0, 4.0], "label": 1}
    assert device.ledger.spent == 0
    assert device.ledger.entries()[0].shows


def test_showing_needs_a_yes_of_its_own(device):
    first = first_round()
    device.agree(first)
    node = int(PANEL[0])
    prepared = prepare(first, node, Server.of(first))
    with pytest.raises(Refusal, match="you have not agreed to that"):
        device.answer(first, node, PRIVATE, prepared=prepared)
    device.agree(first, shows=True)
    assert device.answer(first, node, PRIVATE, prepared=prepared).shows


def refused(words, study, server, kind=Refusal, node=ME):
    with pytest.raises(kind, match=words):
        prepare(study, node, server)


def test_another_predecessor():
    chain, server = chain_of_three()
    first = chain.rounds[0]
    server.blobs[first.id] = first_round().canonical()
    refused("description of round 1 is not the one that the study binds", chain.newest, server)
    strange = later_round(first_round(), friends())
    server.blobs[strange.id] = strange.canonical()
    forged = later_round(strange, resemblance(), earlier=[first.id, strange.id])
    server.blobs[first.id] = first.canonical()
    refused("Round 2 of the study names other rounds", forged, server, BrokenChain)


@pytest.mark.parametrize("name", ["table", "ranks", "scorer"])
def test_another_table_or_scorer(name):
    chain, server = chain_of_three()
    study = chain.newest if name == "scorer" else chain.rounds[1]
    digest = study.asked[0][name].removeprefix("sha256:")
    server.blobs[digest] = blob_of((SCORER if name == "scorer" else TABLE) + 1)
    refused(f"'{name}' of the question '.*' is not the one that the study binds", study, server)


def test_another_directory(device):
    first = first_round()
    with pytest.raises(Refusal, match="not the one that the study binds"):
        device.check_directory(first, Directory((*DIRECTORY.names[:-1], "Somebody else")))
    moved = later_round(first, friends(), directory="0" * 64)  # found by comparing the bound hash
    server = Server.of(first, moved, questions=[friends()])
    refused("Round 2 of the study has another list of participants", moved, server, BrokenChain)


def test_different_directories_for_different_people(device):
    """Two people who compare the hash that their devices show find out."""
    mine, yours = first_round(title="T"), first_round(title="T", directory="1" * 64)
    assert mine.directory != yours.directory
    assert mine.id != yours.id
    with pytest.raises(Refusal, match="but you were invited to"):
        device.check(yours.canonical(), mine.id)


def test_a_second_round_under_the_first_one_s_id(device):
    first = first_round()
    second = later_round(first, friends())
    with pytest.raises(Refusal, match="but you were invited to"):
        device.check(second.canonical(), first.id)


def test_asking_twice(device):
    first = first_round()
    second, other = later_round(first, friends()), later_round(first, friends(), closes="2029-12-30T00:00:00Z")
    server = Server.of(first, second, other, questions=[friends()])
    answered(device, second, server)
    with pytest.raises(Refusal, match=r"another round of .* that this one does not follow"):
        answered(device, other, server)
    again = later_round(second, friends())
    server.blobs[again.id] = again.canonical()
    refused("asks 'friends' again", again, server, BrokenChain)
    assert device.ledger.spent == 2


def test_a_question_in_place_of_another_one_is_not_asked_of_the_same_person(device):
    """Only one of the two is charged, so a server that asked both would get the second one for nothing."""
    first = first_round()
    pilot = later_round(first, release=[{"ask": "features", "mechanism": "multi-bit", "epsilon": 1.0}])
    third = later_round(pilot, resemblance())
    server = Server.of(first, pilot, third, questions=[resemblance()])
    answered(device, pilot, server)
    with pytest.raises(Refusal, match="You have answered 'features' in an earlier round"):
        answered(device, third, server)
    assert device.ledger.spent == 1


def test_a_pair_is_not_counted_in_two_rounds(device):
    first = first_round()
    second = later_round(first, friends())
    honest, greedy = friends_again(), friends_again(table=TABLE)
    for question, words in ((honest, None), (greedy, "A pair of people might be counted twice")):
        third = later_round(second, question)
        server = Server.of(first, second, third, questions=[friends(), question])
        if words is None:
            answered(device, second, server)
            answered(device, third, server)
            assert device.ledger.spent == 2  # the second count is of other pairs, and costs nothing more
        else:
            refused(words, third, server)


def test_another_person_s_number_in_a_later_round(device):
    chain, server = chain_of_three()
    answered(device, chain.rounds[0], server)
    with pytest.raises(OtherNode):
        answered(device, chain.rounds[1], server, ME + 1)


ROW = {"row": [0, 2, -1], "salt": "0" * 32, "proof": []}


@pytest.mark.parametrize(
    ("invited", "words"),
    [
        ({"epsilon": 9.0}, "it must have study, node and rows only"),
        ({"node": ME + 1}, "another person's invitation"),
        ({"study": "0" * 64}, "another person's invitation, or one of another round"),
        ({"rows": []}, "rows are missing"),
        ({"rows": {}}, "lacks your row"),
        ({"rows": {"resemblance": {"offers": {"row": [0, 2, -1], "proof": []}}}}, "lacks your row"),
        ({"rows": {"resemblance": {"offers": {**ROW, "epsilon": 9}}}}, "lacks your row"),
        ({"rows": {"resemblance": {"offers": ROW}}}, "not one of this study"),
        ({"rows": {"resemblance": {"offers": {**ROW, "salt": 7}}}}, "32 hexadecimal digits"),
        ({"rows": {"resemblance": {"offers": {**ROW, "proof": ["x"]}}}}, "a list of hashes"),
        ({"rows": {"resemblance": {"offers": {**ROW, "row": [0.5]}}}}, "a row of whole numbers"),
        ({"rows": {"resemblance": {"offers": {**ROW, "row": [10**9]}}}}, "a row of whole numbers"),
        ({"rows": {"resemblance": {"offers": {**ROW, "proof": ["0" * 64] * 999}}}}, "a row of whole numbers"),
    ],
)
def test_an_invitation_that_is_none(invited, words):
    chain, server = chain_of_three()
    server.invited = invited
    refused(words, chain.newest, server)


def test_somebody_else_s_offers_do_not_pass_for_one_s_own():
    chain, server = chain_of_three()
    theirs = json.loads(server.invitation(chain.newest.id, node=4))
    server.invited = {"rows": theirs["rows"]}
    refused("not one of this study", chain.newest, server)


@pytest.mark.parametrize(
    ("row", "words"),
    [([0, 1, 3], "below 3"), ([1, 1, 2], "ascending"), ([2, 1, 0], "ascending"), ([-1, 0, 1], "ascending")],
)
def test_offers_that_a_manifest_binds_are_checked_all_the_same(row, words):
    """A dishonest operator can bind anything; what the device does not know is not answered."""
    chain, server = chain_of_three()
    offers = OFFERS.copy()
    offers[ME] = row
    bad = later_round(chain.rounds[1], release=[{**chain.newest.asked[0], "offers": tree_root(offers)}])
    server.tables["resemblance", "offers"] = offers
    refused(words, bad, server)


def test_more_offers_than_the_mechanism_chooses_among():
    few_options = [each | ({"most": 2} if each["ask"] == "resemblance" else {}) for each in PLAN["questions"]]
    chain, server = chain_of_three()
    first = first_round(plan=PLAN | {"questions": few_options})
    second = later_round(first, release=chain.rounds[1].asked)
    few = later_round(second, release=[{**chain.newest.asked[0], "most": 2}])
    server.blobs |= {each.id: each.canonical() for each in (first, second)}
    server.invited = {"node": 4, "rows": json.loads(server.invitation(few.id, node=4))["rows"]}
    refused("at most 2", few, server, node=4)


def test_people_who_are_not_asked():
    chain, server = chain_of_three()
    refused("not among the people", chain.rounds[0], server, NotAsked, node=25)
    refused("not asked the question 'friends'", chain.rounds[1], server, NotAsked, node=25)
    server.invited = {"node": 3, "rows": json.loads(server.invitation(chain.newest.id, node=3))["rows"]}
    refused("not asked the question 'resemblance'", chain.newest, server, NotAsked, node=3)


def test_another_list_of_the_people_who_are_asked():
    first = first_round()
    server = Server.of(first)
    server.blobs[first.people.removeprefix("sha256:")] = blob_of(np.arange(NODES, dtype=np.int32))
    refused("list of the people who are asked is not the one", first, server, node=25)


def test_nothing_can_be_prepared_without_a_server_where_something_must_be_fetched():
    chain, _ = chain_of_three()
    for study in chain.rounds:
        refused("must be fetched from the collector", study, None)
