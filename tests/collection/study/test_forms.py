"""Who may send what in a round."""

from dataclasses import replace

import numpy as np
import pytest
from made_rounds import (
    ASKED,
    ME,
    OFFERS,
    PANEL,
    Server,
    chain_of_three,
    first_round,
    friends,
    later_round,
    resemblance,
)
from simulated_studies import make_study, simulated

from privet.collection.device.ledger import Ledger
from privet.collection.device.participant import Participant, PrivateAnswers
from privet.collection.device.preparation import prepare
from privet.collection.study.forms import RoundForm
from privet.errors import InvalidReports


def body_of(study, server, node):
    device = Participant(Ledger(":memory:"))
    device.agree(study, shows=True)
    server.invited = {"node": node}
    private = PrivateAnswers([1.0, 2.0, 3.0, 4.0], 1, [0, 20])
    return device.answer(study, node, private, prepared=prepare(study, node, server)).body


def test_answers_and_what_a_panel_shows_are_told_apart():
    first = first_round()
    form, server = RoundForm(first, first.release, PANEL.astype(np.int64), ASKED), Server.of(first)
    users = [ME, int(PANEL[1]), 9]
    answers, opened = form.split(users, [body_of(first, server, user) for user in users])
    assert answers.users.tolist() == [ME, 9]
    assert opened.users.tolist() == [5]
    assert form.everybody().tolist() == list(range(20))
    assert form.count == 20


def test_people_who_are_not_asked_are_refused():
    first = first_round()
    form = RoundForm(first, first.release, PANEL.astype(np.int64), ASKED)
    body = body_of(first, Server.of(first), ME)
    with pytest.raises(InvalidReports, match="whom this round does not ask"):
        form.check([25], [body])
    with pytest.raises(InvalidReports):  # a panel's member who answers as others do
        form.check([int(PANEL[0])], [body])
    alone = RoundForm(first, replace(first.release, questions=()), PANEL.astype(np.int64))
    with pytest.raises(InvalidReports, match="whom this round does not ask"):
        alone.check([ME], [body])


def test_answers_among_other_classes_than_the_offered_are_refused():
    chain, server = chain_of_three()
    study = chain.newest
    form = RoundForm(study, replace(study.release, questions=(resemblance(),)))
    body = body_of(study, server, ME)
    form.check([ME], [body])
    assert (OFFERS[4] >= 0).sum() != (OFFERS[ME] >= 0).sum()
    with pytest.raises(InvalidReports, match="among the classes that were offered"):
        form.check([4], [body])


def test_a_study_of_one_round_asks_everybody():
    study = make_study()
    answers = simulated(study, 0)
    form = RoundForm(study, study.release)
    assert form.count == study.nodes
    again, opened = form.split(answers.users.tolist(), study.release.wire.pack(answers))
    assert again.users.tolist() == answers.users.tolist()
    assert len(opened.users) == 0


def test_reports_to_later_rounds_are_not_too_long():
    first = first_round()
    second = later_round(first, friends(), resemblance())
    form = RoundForm(first, first.release)
    assert RoundForm(make_study(), make_study().release).longest == make_study().release.wire.longest
    assert form.longest >= second.release.wire.longest > 1
