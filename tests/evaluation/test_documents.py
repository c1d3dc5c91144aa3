from __future__ import annotations

from pathlib import Path

import pytest

from privet.errors import InvalidData
from privet.evaluation.documents import demand, notes, promise, read_json
from privet.privacy import Guarantee, Unit


@pytest.mark.parametrize("content", ["", "{", "\x00"])
def test_files_that_are_no_json_are_named(content: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(content)
    with pytest.raises(InvalidData, match=r"r\.json"):
        read_json(tmp_path / "r.json")


def test_missing_fields_are_named() -> None:
    assert demand({"a": 1, "b": 2}, ("a",), "file", "a result") == {"a": 1, "b": 2}
    with pytest.raises(InvalidData, match="one without b, c"):
        demand({"a": 1}, ("a", "b", "c"), "file", "a result")
    with pytest.raises(InvalidData, match="a JSON int"):
        demand(3, (), "file", "a result")


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
