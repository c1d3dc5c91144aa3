"""Attacks that once succeeded, each as a test of what holds now."""

import contextlib
import json

import numpy as np
import pytest
from made_rounds import LABEL, NODES, PLAN, SCHEMA, Server, first_round, friends, friends_again, later_round
from simulated_studies import make_study, privet

from privet.collection.device.consent import describe
from privet.collection.device.ledger import Ledger
from privet.collection.device.participant import Participant
from privet.collection.device.preparation import prepare
from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.rehearsal import live_collector
from privet.collection.study.forms import RoundForm
from privet.collection.study.manifest import InvalidManifest, Study
from privet.errors import InvalidReports, PrivetError
from privet.release.blobs import array_digest, blob_of


def test_yes_alone_never_shows_raw_answers(tmp_path):
    victim = np.array([7], dtype=np.int32)
    study = make_study(nodes=NODES, schema=SCHEMA, release=[LABEL], plan=PLAN, panel=array_digest(victim))
    folder = StudyFolder.create(tmp_path / "s", study, public=[blob_of(victim)])
    (tmp_path / "me.json").write_text(json.dumps({"features": [1.5, 2.5, 3.5, 4.5], "label": 2}))
    store = folder.store()
    with live_collector(folder) as url:
        link = f"{url}/#study={study.id}&token={folder.tokens.issue(7)}"
        options = ["participate", link, "--answers", tmp_path / "me.json", "--yes"]
        assert "published, as they are" in privet(*options, home=tmp_path, status=2)
        assert store.get(7) is None
        assert "The collector has it. No budget counts it." in privet(*options, "--show", home=tmp_path)
    assert store.get(7) is not None
    store.dispose()


def test_a_withdrawal_is_from_a_study_whose_chain_was_checked():
    honest = make_study(nodes=30, schema=SCHEMA, release=[LABEL], plan=PLAN)
    claimed = {"operator": "somebody else", "earlier": [honest.id]}
    evil = make_study(nodes=50, schema=SCHEMA, release=[LABEL], plan=PLAN, **claimed)
    device = Participant(Ledger(":memory:"))

    class Hostile:
        def withdraw(self, token):
            pass

    with contextlib.suppress(PrivetError):
        device.withdraw(device.check(evil.canonical(), evil.id), Hostile(), "token")
    assert not device.ledger.withdrew(honest)


def test_an_earlier_table_of_another_length_is_a_refusal():
    short = friends(table=np.full(7, -1, dtype=np.int32), ranks=np.ones(7, dtype=np.int32))
    first = first_round()
    second = later_round(first, short)
    third = later_round(second, friends_again())
    with pytest.raises(PrivetError):
        prepare(third, 7, Server.of(first, second, third, questions=[short, friends_again()]))


def test_a_deep_plan_is_no_manifest():
    document = json.loads(make_study().canonical())
    deep: dict = {}
    for _ in range(300):
        deep = {"a": deep}
    document["plan"] = {"system": "inquiry", "settings": deep, "questions": document["release"]}
    with pytest.raises(InvalidManifest):
        Study.from_bytes(json.dumps(document, sort_keys=True, separators=(",", ":")).encode())


def test_the_last_day_of_the_calendar_can_be_described():
    describe(make_study(opens="9999-01-01T00:00:00Z", closes="9999-12-31T00:00:00Z", delete_after=36_600))


def test_people_of_rank_0_are_not_asked():
    study = later_round(first_round(), friends())
    form = RoundForm(study, study.release.__class__((friends(),), study.population))
    with pytest.raises(InvalidReports):
        form.check([22], [bytes([1, 2, 3])])  # published, of rank 0
