"""Rounds belong together, or they are refused."""

import pytest
from made_rounds import LABEL, PLAN, chain_of_three, first_round, friends, friends_again, later_round, resemblance

from privet.collection.study.chain import BrokenChain, Chain


def test_the_questions_of_all_rounds_together():
    chain, _ = chain_of_three()
    assert [question.name for question in chain.release.questions] == ["label", "friends", "resemblance"]
    assert [each.round for each in chain.rounds] == [1, 2, 3]
    assert {each.chain for each in chain.rounds} == {chain.rounds[0].id}
    ids = [each.id for each in chain.rounds]
    assert chain.price.epsilon == 1 + 2 + 1  # a relationship counts twice: the other end may be asked too
    assert chain.joint(ids[:1]).price.epsilon == 1
    assert any("the minute of its arrival" in text for text in chain.guarantee().unprotected)
    assert "who is linked with whom, which the operator knows" not in chain.guarantee().unprotected


def test_other_pairs_are_charged_once():
    first = first_round()
    second = later_round(first, friends())
    third = later_round(second, friends_again())
    chain = Chain((first, second, third))
    assert chain.joint([second.id]).price.epsilon == chain.joint([second.id, third.id]).price.epsilon == 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"directory": None}, "another list of participants"),
        ({"nodes": 31}, "another number of people"),
        ({"operator": "Somebody else"}, "another operator"),
        ({"purpose": "Advertising."}, "another purpose"),
        ({"plan": PLAN | {"settings": {"seed": 1}}}, "another plan of the rounds"),
        ({"delete_after": 9000}, "another time after which reports are deleted"),
    ],
)
def test_what_people_agreed_to_does_not_change(changes, words):
    first = first_round()
    with pytest.raises(BrokenChain, match=f"Round 2 of the study has {words} than the first one"):
        Chain((first, later_round(first, friends(), **changes)))


def test_a_question_is_asked_once():
    first = first_round()
    second = later_round(first, resemblance())
    again = later_round(second, resemblance())
    with pytest.raises(BrokenChain, match="Round 3 of the study asks 'resemblance' again, which round 2 asked"):
        Chain((first, second, again))
    with pytest.raises(BrokenChain, match="asks 'label' again"):
        Chain((first, later_round(first, release=[LABEL])))


def test_other_pairs_can_be_told_in_one_order_only():
    first = first_round()
    second = later_round(first, friends_again())
    with pytest.raises(BrokenChain, match="Round 3 of the study asks 'friends' after 'friends-again'"):
        Chain((first, second, later_round(second, friends())))


def test_rounds_name_those_before_them():
    first, other = first_round(), first_round()
    second = later_round(first, friends())
    for rounds in ((other, second), (second,), (first, later_round(second, resemblance()))):
        with pytest.raises(BrokenChain, match="names other rounds before it"):
            Chain(rounds)


def test_a_panel_is_asked_in_the_first_round_only():
    first = first_round()
    with pytest.raises(BrokenChain, match="Round 2 of the study has a panel; only the first round may"):
        Chain((first, later_round(first, friends(), panel=first.panel)))
