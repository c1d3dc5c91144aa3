from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.data import Categories, Interval, Schema
from privet.errors import InvalidData, InvalidParameter, PrivetError

intervals = st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6)).map(lambda pair: Interval(pair[0], pair[0] + pair[1]))
features = st.lists(intervals | st.integers(2, 50).map(Categories), max_size=20)


@given(features, st.sampled_from([0, 2, 7]), st.booleans())
def test_json_round_trip(features: list, classes: int, private_edges: bool) -> None:
    schema = Schema(tuple(features), classes, private_edges)
    again = Schema.from_json(schema.to_json())
    assert again == schema
    assert again.to_json() == schema.to_json()
    assert (again.low < again.high).all()


def test_equal_neighbours_are_written_once() -> None:
    text = Schema.numeric(10_000, 0.0, 1.0, classes=3).to_json()
    assert len(text) < 200
    assert Schema.from_json(text).dimension == 10_000


def test_ranges_a_feature() -> None:
    schema = Schema.numeric(3, low=[0, 1, 2], high=5.0)
    assert schema.low.tolist() == [0, 1, 2]
    assert schema.high.tolist() == [5, 5, 5]
    assert Schema.categorical([2, 4]).high.tolist() == [1, 3]
    assert Schema.categorical([2, 4]).categories == (2, 4)
    with pytest.raises(InvalidData, match="feature 1"):
        _ = Schema((Categories(2), Interval(0, 1))).categories


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (2.0, 1.0), (float("nan"), 1.0), (0.0, float("inf"))])
def test_empty_or_infinite_ranges_are_refused(low: float, high: float) -> None:
    with pytest.raises(InvalidParameter, match="low < high"):
        Interval(low, high)


def test_wrong_lengths_and_counts_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="3 numbers"):
        Schema.numeric(3, low=[0, 1], high=5.0)
    with pytest.raises(InvalidParameter, match="at least 2"):
        Categories(1)
    with pytest.raises(InvalidParameter, match="classes"):
        Schema((), classes=1)
    with pytest.raises(InvalidParameter, match=r"features\[0\]"):
        Schema((3,))  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="private_edges"):
        Schema((), private_edges=1)  # type: ignore[arg-type]


GOOD = json.loads(Schema.numeric(2, 0, 1, classes=2).to_json())


@pytest.mark.parametrize(
    "document",
    [
        "{", "[]", "{}", json.dumps(GOOD | {"version": 2}), json.dumps(GOOD | {"extra": 1}),
        json.dumps(GOOD | {"features": 3}), json.dumps(GOOD | {"features": [{}]}),
        json.dumps(GOOD | {"features": [{"interval": [0, 1], "repeat": 0}]}),
        json.dumps(GOOD | {"features": [{"interval": [0, 1], "repeat": 10**12}]}),
        json.dumps(GOOD | {"features": [{"interval": [1, 0], "repeat": 1}]}),
        json.dumps(GOOD | {"features": [{"interval": ["a", 0], "repeat": 1}]}),
        json.dumps(GOOD | {"features": [{"categories": "2", "repeat": 1}]}),
        json.dumps(GOOD | {"classes": "two"}),
        json.dumps(GOOD | {"version": True}),
        json.dumps(GOOD | {"features": [{"interval": [0, 10**400], "repeat": 1}]}),
        json.dumps(GOOD | {"features": [{"interval": [0, 1], "repeat": 10**7}] * 40}),
        '{"version": ' + "1" * 5000 + "}",
    ],
)  # fmt: skip
def test_bad_documents_end_in_one_sentence(document: str) -> None:
    with pytest.raises(PrivetError, match=r"^[A-Za-z].* must be .*\.$"):
        Schema.from_json(document)


def test_names_stand_for_codes() -> None:
    schema = Schema.categorical([["no", "yes"], 3], classes=["bus", "bike", "car"])
    document = json.loads(schema.to_json())
    assert [entry["categories"] for entry in document["features"]] == [["no", "yes"], 3]
    assert document["classes"] == ["bus", "bike", "car"]
    assert Schema.from_json(schema.to_json()) == schema
    assert (schema.categories, schema.classes, schema.class_names) == ((2, 3), 3, ("bus", "bike", "car"))
    assert schema != Schema.categorical([2, 3], classes=3)
    named, counted = schema.features
    assert isinstance(named, Categories)
    assert isinstance(counted, Categories)
    assert [named.code("yes"), named.code(1), counted.code(2)] == [1, 1, 2]
    assert [schema.class_code("car"), schema.class_code(0), schema.class_code(None)] == [2, 0, None]
    for wrong in (lambda: named.code("Yes"), lambda: counted.code("2"), lambda: schema.class_code("tram")):
        with pytest.raises(InvalidData, match=r"must be (one of|a number)") as caught:
            wrong()
        assert "tram" not in str(caught.value)  # an answer is private, and errors are logged


@pytest.mark.parametrize("names", [["a"], ["a", "a"], ["a", ""], ["a", "b\x07"], ["a", 1], ["a", "\u202eb"], [], "ab"])
def test_bad_names_are_refused(names: Any) -> None:
    for document in (GOOD | {"classes": names}, GOOD | {"features": [{"categories": names, "repeat": 1}]}):
        if document["classes"] == []:
            continue  # no classes
        with pytest.raises(InvalidParameter, match=r"^[A-Za-z].* must be .*\.$"):
            Schema.from_json(json.dumps(document))
    with pytest.raises(InvalidParameter, match="3 different texts"):
        Schema((), 3, class_names=("a", "b"))


def test_equal_schemas_have_equal_json() -> None:
    assert Interval(0, 1) == Interval(0.0, 1.0)
    assert Schema((Interval(0, 1),)).to_json() == Schema((Interval(0.0, 1.0),)).to_json()
    assert Schema.from_json(Schema.categorical(np.array([2, 3])).to_json()).categories == (2, 3)
    with pytest.raises(InvalidParameter, match="low < high"):
        Interval("a", 1)  # type: ignore[arg-type]


def test_numpy_integers_are_integers() -> None:
    assert Schema.categorical(np.array([2, 3])).categories == (2, 3)


def test_repr_is_one_short_line():
    assert repr(Schema.numeric(1433, 0, 1, classes=7)) == "Schema(1433 features in [0, 1], 7 classes)"
    assert repr(Schema((), private_edges=True)) == "Schema(no features, no labels, private edges)"
    mixed = Schema((Interval(0, 1), Categories(3), *[Interval(-1, 0.5)] * 2, *[Categories(c) for c in range(2, 900)]))
    described = "1 feature in [0, 1], 1 feature of 3 categories, 2 features in [-1, 0.5], 898 more features"
    assert repr(mixed) == f"Schema({described}, no labels)"
