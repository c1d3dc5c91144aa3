"""A person who answers twice: the exact joint loss is what the ledger charges, and asking again shows nothing new."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from made_rounds import Server
from scipy.stats import chisquare
from simulated_studies import make_study, two_rounds

from privet.auditing import audit
from privet.auditing.local.longitudinal import Repeated, SameAnswer, SeveralFields
from privet.collection.device.ledger import Ledger
from privet.collection.device.participant import Participant, PrivateAnswers
from privet.collection.device.preparation import prepare
from privet.errors import InvalidParameter
from privet.mechanisms import MultiBit, RandomizedResponse, SeededBits

ANSWERS = PrivateAnswers([0.0, 10.0, 5.0, 1.0, 2.0, 3.0], label=1)


def label_study(epsilon: float):  # type: ignore[no-untyped-def]
    return make_study(release=[{"ask": "label", "mechanism": "randomized-response", "epsilon": epsilon}])


def test_two_studies_lose_together_what_the_ledger_charges() -> None:
    studies = label_study(1.0), label_study(0.5)
    device = Participant(Ledger(":memory:"), SeededBits(0))
    for study in studies:
        device.agree(study)
        device.answer(study, 17, ANSWERS)
    both = Repeated(tuple(study.release.question("label").mechanism for study in studies))
    found = audit(both)
    assert found.holds
    assert found.num_reports == 9
    assert device.ledger.spent - 1e-6 < found.epsilon <= device.ledger.spent
    less = replace(both.guarantee(), epsilon=device.ledger.spent - 1e-6)
    assert not audit(both, less).holds  # nothing less would do


def test_two_rounds_about_two_fields_lose_together_what_the_ledger_charges() -> None:
    rounds = two_rounds()
    device = Participant(Ledger(":memory:"), SeededBits(0))
    server = Server.of(*rounds)
    for study in rounds:
        device.agree(study)
        device.answer(study, 17, ANSWERS, prepared=prepare(study, 17, server))
    label, features = (study.release.questions[0].mechanism for study in rounds)
    small = replace(features, dimension=2, low=-1.0, high=1.0)  # few enough reports to list; the budget is the same
    found = audit(SeveralFields((label, small)))
    assert found.holds
    assert device.ledger.spent - 1e-6 < found.epsilon <= device.ledger.spent


def test_a_repeated_request_returns_the_same_report_and_costs_nothing() -> None:
    """Fresh reports would lose three times as much, and their average would give the answer away."""
    study = label_study(1.0)
    device = Participant(Ledger(":memory:"), SeededBits(1))
    device.agree(study)
    assert len({device.answer(study, 17, ANSWERS).body for _ in range(20)}) == 1
    mechanism = study.release.question("label").mechanism
    assert device.ledger.spent == audit(SameAnswer(mechanism, 3)).claim == 1.0
    assert audit(SameAnswer(mechanism, 3)).holds
    fresh = audit(Repeated((mechanism,) * 3), mechanism.guarantee())
    assert not fresh.holds
    assert fresh.epsilon == pytest.approx(3.0, abs=1e-6)


def test_a_device_s_two_reports_have_the_joint_distribution_that_was_listed() -> None:
    """400 devices, each in both studies; chi-square over all pairs of reports, false alarms 1e-6."""
    studies = label_study(1.0), label_study(0.5)
    mechanisms = tuple(study.release.question("label").mechanism for study in studies)
    bits, seen = SeededBits(2), Counter[tuple[int, ...]]()
    for _ in range(400):
        device = Participant(Ledger(":memory:"), bits)
        pair = []
        for study, mechanism in zip(studies, mechanisms, strict=True):
            device.agree(study)
            body = device.answer(study, 17, ANSWERS).body
            pair.append(mechanism.report_key(study.release.wire.unpack([17], [body])["label"].reports, 0))
        seen[tuple(pair)] += 1
        device.ledger.close()
    listed = Repeated(mechanisms).exact_distribution(np.array([1]))
    expected = {pair: 400 * float(below) for pair, (below, _) in listed.items()}
    assert seen.keys() <= expected.keys()
    assert chisquare([seen[pair] for pair in expected], list(expected.values())).pvalue > 1e-6


def test_reports_of_different_mechanisms_about_one_value() -> None:
    parts = (
        MultiBit(epsilon=0.5, dimension=2, low=-1.0, high=1.0),
        MultiBit(epsilon=1.0, dimension=2, low=-1.0, high=1.0),
    )
    found = audit(Repeated(parts))
    assert found.holds
    assert found.epsilon == pytest.approx(1.5, abs=1e-6)


def test_nothing_is_no_answer() -> None:
    with pytest.raises(InvalidParameter, match="at least one mechanism"):
        Repeated(())
    with pytest.raises(InvalidParameter, match="requests"):
        SameAnswer(RandomizedResponse(epsilon=1.0, classes=2), 0)
