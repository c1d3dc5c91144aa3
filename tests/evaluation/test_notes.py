from __future__ import annotations

from privet.evaluation.notes import notes, promise
from privet.privacy import Guarantee, Unit


def test_each_fact_that_needs_words_gets_a_sentence() -> None:
    assert notes({}) == []
    assert notes({"never_offered_14": 1.0}) == [
        "Class 14 was never offered, since nobody of it showed features (last seed)."
    ]
    assert notes({"asked": 0.5}) == ["50 % of people were asked."]
    assert notes({"reported_pairs": 1000.0, "expected_noise": 4000.0}) == [
        "Of 1,000 reported edges about 1,000 are noise (100%)."
    ]
    told = notes({"certified_accuracy_1": 0.5, "certified_accuracy_2": 0.25})
    assert told[0].startswith("Right, and against 1, 2 or 3 lies about friends: 50.0, 25.0, 0.0 % of test nodes")


def test_the_promise_names_what_is_protected_and_what_is_not() -> None:
    guarantee = Guarantee.local(Unit.FEATURES, 1.0, unprotected=("the labels",))
    assert promise(guarantee).startswith("Protected: ")
    assert promise(guarantee).endswith("true epsilon at most 1. Not protected: the labels.")
