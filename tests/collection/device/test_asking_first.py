"""A device asks a real collector, with its token, before it draws or charges anything."""

import pytest
from simulated_studies import make_study

from privet.collection.device.client import Collector, NotDelivered
from privet.collection.device.ledger import Ledger
from privet.collection.device.participant import Participant, PrivateAnswers, Refusal
from privet.collection.study.tokens import node_of

ANSWERS = PrivateAnswers([0.0, 10.0, 5.0, 1.0, 2.0, 3.0], label=1)


def new_device(study):
    device = Participant(Ledger(":memory:"))
    device.agree(study)
    return device


def test_a_report_is_drawn_once_the_collector_would_take_it(live):
    address, folder = live
    study, token = folder.study, folder.tokens.issue(17)
    device, collector = new_device(study), Collector(address)
    reply = device.take_part(study, ANSWERS, collector, token)
    assert folder.store().get(17) == reply.body
    assert device.take_part(study, PrivateAnswers([0.0] * 6, 0), collector, token) == reply  # the same bytes
    assert device.ledger.spent == 2.0

    second = new_device(study)
    with pytest.raises(Refusal, match=r"stored already.*No report was made, and nothing was spent"):
        second.take_part(study, ANSWERS, collector, token)
    assert second.ledger.entries() == []

    for place in (1, 31):  # a letter of the number, and one of the signature
        wrong = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
        third = new_device(study)
        if node_of(wrong) < study.nodes:
            with pytest.raises(Refusal, match="nothing was spent"):
                third.take_part(study, ANSWERS, collector, wrong)
        assert third.ledger.entries() == []

    collector.withdraw(folder.tokens.issue(18))
    with pytest.raises(Refusal, match=r"were erased.*nothing was spent"):
        third.take_part(study, ANSWERS, collector, folder.tokens.issue(18))
    assert third.take_part(study, ANSWERS, collector, folder.tokens.issue(19)).study == study  # bound to nobody before


def test_without_a_collector_nothing_is_drawn(folder):
    device = new_device(folder.study)
    nowhere = Collector("http://127.0.0.1:9", attempts=1)
    with pytest.raises(NotDelivered, match="Nothing was made yet"):
        device.take_part(folder.study, ANSWERS, nowhere, folder.tokens.issue(17))
    assert device.ledger.entries() == []


def test_one_that_was_drawn_and_never_left_is_refunded_when_it_is_refused(live):
    address, folder = live
    device = new_device(folder.study)
    device.answer(folder.study, 20, ANSWERS)
    Collector(address).withdraw(folder.tokens.issue(20))
    with pytest.raises(Refusal, match="never sent; it is destroyed, and 2 is refunded"):
        device.take_part(folder.study, ANSWERS, Collector(address), folder.tokens.issue(20))
    assert device.ledger.spent == 0


def test_who_withdrew_is_told_without_a_request():
    study = make_study()
    device = new_device(study)
    device.ledger.withdraw(study)
    with pytest.raises(Refusal, match="You withdrew"):
        device.take_part(study, ANSWERS, None, "EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
