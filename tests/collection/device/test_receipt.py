"""A receipt says in words what was sent."""

from simulated_studies import asked, make_study, simulated

from privet.collection.device.participant import Reply
from privet.collection.device.receipt import receipt
from privet.collection.study.forms import OpenForm
from privet.data import Categories, Interval, Schema

SCHEMA = Schema((Interval(0.0, 12.0), Categories(2, ("no", "yes"))), 2, class_names=("lark", "owl"))
WORDS = {"schema": SCHEMA, "questions": ("Hours of sleep", "Coffee?"), "class_question": "Which type are you?"}


def words(mechanism, **more):
    study = make_study(**WORDS, release=asked({"mechanism": mechanism, "epsilon": 1.0, **more}, {"epsilon": 1.0}))
    (body,) = study.release.wire.pack(simulated(study, 0, count=1))
    return receipt(Reply(study, body))


def test_every_question_is_named_and_chance_is_said():
    first, sleep, coffee, group = words("multi-bit", sample=2)
    assert "chance may have changed each of your answers" in first
    assert sleep in ("  Hours of sleep: a high answer", "  Hours of sleep: a low answer")
    assert coffee.startswith("  Coffee?: a ")
    assert group in ("  Which type are you?: 'lark'", "  Which type are you?: 'owl'")


def test_what_was_not_drawn_is_nothing():
    lines = words("multi-bit", sample=1)
    assert "  1 other question: nothing" in lines


def test_a_panel_member_reads_that_everything_was_shown():
    study = make_study(**WORDS)
    reply = Reply(study, OpenForm(SCHEMA).pack([7.5, 1.0], 1), shows=True)
    assert receipt(reply) == [
        "You are in the panel: everything below was sent, and is published, as you answered it.",
        "  Hours of sleep: 7.5",
        "  Coffee?: 'yes'",
        "  Which type are you?: 'owl'",
    ]
