"""A device refuses what its owner did not agree to, and never answers a study in two ways."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from simulated_studies import make_study

from privet.collection.device import participant as module
from privet.collection.device.client import NotDelivered
from privet.collection.device.ledger import Ledger, OtherNode, OverLimit
from privet.collection.device.participant import Participant, PrivateAnswers, Refusal
from privet.collection.device.preparation import prepare
from privet.collection.study.directory import Directory
from privet.data import Categories, Interval, Schema
from privet.errors import InvalidData
from privet.mechanisms import SeededBits

ANSWERS = PrivateAnswers([0.0, 10.0, 5.0, 1.0, 2.0, 3.0], label=1)


@pytest.fixture
def device():
    return Participant(Ledger(":memory:"))


def test_names_stand_for_codes():
    schema = Schema((Categories(2, ("no", "yes")), Interval(0, 1), Categories(3)), 3, class_names=("a", "b", "c"))
    study = make_study(schema=schema)
    named = PrivateAnswers(["yes", 0.5, 2], label="c").checked(prepare(study, 17))
    coded = PrivateAnswers([1, 0.5, 2], label=2).checked(prepare(study, 17))
    assert np.array_equal(named.features, coded.features)
    assert np.array_equal(named.labels, coded.labels)
    for features, label, message in (
        (["maybe", 0.5, 2], 2, "Answer 1, 'feature 0', must be one of 'no', 'yes'"),
        (["yes", "no", 2], 2, "Answer 2, 'feature 1', must be a number from 0 to 1"),
        (["yes", 0.5, "2"], 2, "Answer 3, 'feature 2', must be one of 3 categories, 0 to 2"),
        (["yes", 0.5, 2], "d", "Your class must be one of 'a', 'b', 'c'"),
    ):
        with pytest.raises(InvalidData, match=message):
            PrivateAnswers(features, label=label).checked(prepare(study, 17))
    with pytest.raises(InvalidData, match="one of 'a', 'b', 'c'"):
        PrivateAnswers(["yes", 0.5, 2], label="d").shown(study, 17)
    shown = make_study(schema=schema, questions=("Do you?", "What part of the day?", "Which?"), class_question="Who?")
    for features, label, message in (
        (["yes", np.float64(7.5), 2], 2, "Answer 2, 'What part of the day?', must be a number from 0 to 1."),
        ([1.5, 0.5, 2], 2, "Answer 1, 'Do you?', must be one of 'no', 'yes'."),
        (["yes", 0.5, 2], None, "Your answer to 'Who?' must be one of 'a', 'b', 'c'."),
    ):
        with pytest.raises(InvalidData) as caught:
            PrivateAnswers(features, label=label).shown(shown, 17)
        assert str(caught.value) == message
    assert PrivateAnswers(["yes", 0.5, 2], label="c").shown(study, 17) == PrivateAnswers([1, 0.5, 2], label=2).shown(
        study, 17
    )


def test_answers_outside_their_range_count_as_its_end_for_every_question(study):
    private = PrivateAnswers([-3.0, 99.0, 5.0, 1.0, 2.0, 3.0], label=1).checked(prepare(study, 17))
    assert private.features.tolist() == [[0.0, 10.0, 5.0, 1.0, 2.0, 3.0]]


def test_a_report_that_the_study_s_mechanisms_could_have_made(device, study):
    device.agree(study)
    reply = device.answer(study, 17, ANSWERS)
    found = study.release.wire.unpack([17], [reply.body])
    assert set(reply.symbols()) == {"features", "label"}
    assert found["label"].users.tolist() == [17]


def test_every_repetition_is_the_same_even_if_the_answers_change(device, study):
    device.agree(study)
    first = device.answer(study, 17, ANSWERS)
    for label in range(3):
        for _ in range(10):
            assert device.answer(study, 17, PrivateAnswers([9.0] * 6, label=label)) == first
    late = datetime(2031, 1, 1, tzinfo=UTC)
    assert device.answer(study, 17, ANSWERS, now=late) == first
    assert device.ledger.spent == study.price.epsilon


def test_a_device_has_one_node_in_a_study(device, study):
    device.agree(study)
    device.answer(study, 17, ANSWERS)
    with pytest.raises(OtherNode, match="as node 17"):
        device.answer(study, 18, ANSWERS)


def test_it_refuses_a_manifest_with_another_id(device, study):
    assert device.check(study.canonical(), study.id.upper()) == study
    dearer = make_study(title=study.title, features={"mechanism": "multi-bit", "epsilon": 2.0})
    with pytest.raises(Refusal, match=f"you were invited to {study.id}"):
        device.check(dearer.canonical(), study.id)


def test_it_refuses_more_than_its_owner_s_limit(device, study):
    device.ledger.limit = 1.5
    device.agree(study)
    with pytest.raises(OverLimit, match=r"lifetime limit 1\.5"):
        device.answer(study, 17, ANSWERS)
    assert device.ledger.spent == 0


@pytest.mark.parametrize("moment", ["2019-12-31T23:59:59", "2029-12-31T00:00:00", "2035-01-01T00:00:00"])
def test_it_refuses_a_study_that_is_not_open(device, study, moment):
    device.agree(study)
    with pytest.raises(Refusal, match="No report was made"):
        device.answer(study, 17, ANSWERS, now=datetime.fromisoformat(moment).replace(tzinfo=UTC))
    assert device.ledger.spent == 0


def test_it_refuses_a_range_that_was_not_shown(device, study):
    device.agree(study)
    wider = make_study(title=study.title, schema=Schema.numeric(6, low=0.0, high=200.0, classes=3))
    with pytest.raises(Refusal, match=r"range of feature 0 is \[0, 200\], and you were shown \[0, 10\]"):
        device.answer(wider, 17, ANSWERS)
    more = make_study(title=study.title, schema=Schema.numeric(7, low=0.0, high=10.0, classes=3))
    with pytest.raises(Refusal, match="asks for 7 features, and you were shown 6"):
        device.answer(more, 17, ANSWERS)
    dearer = make_study(title=study.title, labels={"epsilon": 3.0})
    with pytest.raises(Refusal, match="costs an epsilon of 4, and you were shown 2"):
        device.answer(dearer, 17, ANSWERS)
    with pytest.raises(Refusal, match="have not agreed"):
        device.answer(make_study(), 17, ANSWERS)
    assert device.ledger.spent == 0


@pytest.mark.parametrize(
    ("node", "private", "expected"),
    [
        (500, ANSWERS, "below 500"),
        (17, PrivateAnswers([1.0], label=1), "6 numbers"),
        (17, PrivateAnswers([1.0] * 6 + ["x"], label=1), "asks for 6 features. Leave out answer 7"),
        (
            17,
            PrivateAnswers([1.0, 2.0, 3.0, 4.0, 5.0, float("nan")], label=1),
            "Answer 6, .* a number from 0 to 10",
        ),
        (17, PrivateAnswers(["1", 2.0, 3.0, 4.0, 5.0, 6.0], label=1), "Answer 1, .* a number from 0 to 10"),
        (17, PrivateAnswers([10**400, 2.0, 3.0, 4.0, 5.0, 6.0], label=1), "Answer 1, .* a number from 0 to 10"),
        (17, PrivateAnswers([1.0] * 6), "class must be a number from 0 to 2"),
        (17, PrivateAnswers([1.0] * 6, label=3), "class must be a number from 0 to 2"),
        (17, PrivateAnswers([1.0] * 6, label=True), "class must be a number from 0 to 2"),
        (17, PrivateAnswers([1.0] * 6, label=1.0), "class must be a number from 0 to 2"),
        (17, PrivateAnswers([1.0] * 6, label=10**30), "class must be a number from 0 to 2"),
        (17, PrivateAnswers([True] * 6, label=1), "Answer 1, .* a number from 0 to 10"),
        (17, PrivateAnswers([np.True_] * 6, label=1), "Answer 1, .* a number from 0 to 10"),
        (17, PrivateAnswers([1.0] * 6, label=1, neighbours=[True]), "id from 0 to 499"),
        (17, PrivateAnswers([1.0] * 6, label=1, neighbours=[3.0]), "id from 0 to 499"),
        (17, PrivateAnswers([1.0] * 6, label=1, neighbours=[10**30]), "id from 0 to 499"),
    ],
)
def test_bad_answers_are_found_before_anything_is_spent(device, study, node, private, expected):
    device.agree(study)
    with pytest.raises(InvalidData, match=expected):
        device.answer(study, node, private)
    assert device.ledger.entries() == []


def test_categories_and_neighbours_are_checked_too(device):
    schema = Schema.categorical([2, 3], private_edges=True)
    study = make_study(
        schema=schema,
        labels=None,
        features={"mechanism": "sampled-response", "epsilon": 1.0, "sample": 1},
        neighbours={"epsilon": 4.0},
    )
    device.ledger.limit = study.price.epsilon
    device.agree(study)
    for private in (
        PrivateAnswers([2, 0]),
        PrivateAnswers([1, 0], neighbours=[17]),
        PrivateAnswers([1, 0], None, [900]),
    ):
        with pytest.raises(InvalidData):
            device.answer(study, 17, private)
    assert device.answer(study, 17, PrivateAnswers([1, 2], neighbours=[3, 18, 18, 499])).symbols()["neighbours"]


def test_reports_are_distributed_as_the_mechanism_says(study):
    """The mean of 400 devices' label reports lies within 5 standard errors (false alarms below 1e-6)."""
    bits = SeededBits(0)
    count = 0
    for _ in range(400):
        device = Participant(Ledger(":memory:"), bits)
        device.agree(study)
        count += device.answer(study, 1, ANSWERS).symbols()["label"] == 1
    keep = study.release.question("label").mechanism.keep
    assert abs(count / 400 - keep) < 5 * np.sqrt(keep * (1 - keep) / 400)


def test_raw_answers_do_not_show_in_their_own_text():
    assert "10.0" not in repr(ANSWERS)


def test_a_device_needs_no_torch():
    """Whatever a device imports works where the server's and the training's packages are not installed."""
    folder = Path(module.__file__).parent
    names = [f"privet.collection.device.{path.stem}" for path in folder.glob("*.py") if path.stem != "__init__"]
    assert len(names) >= 4
    code = "\n".join(
        [
            "import sys",
            "for absent in 'torch starlette sqlalchemy pyarrow privet.systems rich typer'.split():",
            "    sys.modules[absent] = None  # an import of it fails",
            *(
                f"import {name}"
                for name in [*names, "privet.collection.study.tokens", "privet.collection.study.manifest"]
            ),
        ]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


class Recorder:
    """A collector that remembers what the ledger said while it was being sent to."""

    def __init__(self, device, fails=False):
        self.device, self.fails, self.tried = device, fails, None

    def send(self, reply, token):
        self.tried = self.device.ledger.entries()[0].tried
        if self.fails:
            raise NotDelivered("No.")
        return "stored"


def test_a_report_counts_as_sent_before_its_first_byte_leaves(device, study):
    device.agree(study)
    reply = device.answer(study, 17, ANSWERS)
    lost = Recorder(device, fails=True)
    with pytest.raises(NotDelivered):
        device.deliver(reply, lost, "token")
    assert lost.tried is not None
    assert device.ledger.entries()[0].sent is None
    assert device.deliver(reply, Recorder(device), "token") == "stored"
    assert device.ledger.entries()[0].sent is not None


def test_a_directory_must_be_the_one_that_the_study_binds(device):
    people = Directory(tuple(f"person {node}" for node in range(500)))
    schema = Schema.numeric(6, low=0.0, high=10.0, classes=3, private_edges=True)
    bound = make_study(schema=schema, neighbours={"epsilon": 1.0}, directory=people.digest)
    device.agree(bound)
    swapped = Directory((*people.names[1::-1], *people.names[2:]))
    for wrong in (swapped, Directory(people.names[:-1])):
        with pytest.raises(Refusal, match="not the one that the study binds"):
            device.answer(bound, 17, ANSWERS, directory=wrong)
    with pytest.raises(Refusal, match="binds no list"):
        device.check_directory(make_study(schema=schema, neighbours={"epsilon": 1.0}), people)
    assert device.ledger.spent == 0
    device.answer(bound, 17, ANSWERS, directory=people)
    assert device.ledger.spent == 4.0  # a relationship counts twice


def test_answers_outside_their_range_are_named(study):
    assert PrivateAnswers([-1.0, 10.0, 25, 1.0, 2.0, 3.0]).outside(study) == [(0, 0.0), (2, 10.0)]


class Erasing:
    """A collector that erases, or that does not."""

    def __init__(self, works=True):
        self.works, self.tokens = works, []

    def withdraw(self, token):
        self.tokens.append(token)
        if not self.works:
            raise NotDelivered("No.")


def test_who_withdrew_makes_no_report_any_more(device, study):
    device.agree(study)
    device.answer(study, 17, ANSWERS)
    collector = Erasing()
    assert device.withdraw(study, collector, "token").refunded == 2.0
    assert collector.tokens == ["token"]
    with pytest.raises(Refusal, match="You withdrew from this study"):
        device.answer(study, 17, ANSWERS)
    assert device.ledger.entries() == []


def test_a_withdrawal_that_the_collector_did_not_hear_of_is_none(device, study):
    device.agree(study)
    reply = device.answer(study, 17, ANSWERS)
    with pytest.raises(NotDelivered):
        device.withdraw(study, Erasing(works=False), "token")
    assert device.answer(study, 17, ANSWERS) == reply
    assert device.ledger.spent == 2.0
