"""The manifest: one canonical form, one id, and one sentence for whatever is wrong."""

import json
from datetime import UTC, datetime
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_studies import asked, make_study

from privet.collection.study.manifest import InvalidManifest, Study
from privet.data import Schema
from privet.errors import InvalidData

SCHEMA = json.loads(Schema.numeric(6, low=0.0, high=10.0, classes=3).to_json())


def document(**changes):
    """A manifest; ``features``, ``labels`` and ``neighbours`` change these questions, other names their fields."""
    questions = {name: changes.pop(name) for name in ("features", "labels", "neighbours") if name in changes}
    whole = json.loads(make_study(title="T").canonical())
    if questions:
        both = {"features": {"mechanism": "multi-bit", "epsilon": 1.0}, "labels": {"epsilon": 1.0}}
        whole["release"] = asked(**both | questions)
    return whole | changes


def test_the_canonical_bytes_give_the_same_study_back(study):
    again = Study.from_bytes(study.canonical())
    assert again == study
    assert again.id == study.id
    assert len(study.id) == 64


@pytest.mark.parametrize(
    "change",
    [
        {"title": "U"},
        {"nodes": 501},
        {"version": 2},
        {"purpose": "Another."},
        {"features": {"mechanism": "multi-bit", "epsilon": 1.0000000000000002}},
        {"features": {"mechanism": "hds", "epsilon": 1.0}},
        {"labels": {"epsilon": 2.0}},
        {"labels": None},
        {"closes": "2029-12-31T00:00:01Z"},
        {"schema": json.loads(Schema.numeric(6, low=0.0, high=10.5, classes=3).to_json())},
        {"schema": SCHEMA | {"classes": ["a", "b", "c"]}},
        {"questions": ["a", "b", "c", "d", "e", "f"]},
    ],
)
def test_whatever_changes_makes_another_study(change):
    assert Study.read(document(**change)).id != Study.read(document()).id


def test_other_spellings_of_a_manifest_are_refused(study):
    same = json.loads(study.canonical())
    for text in (json.dumps(same), json.dumps(same, sort_keys=True, indent=1), study.canonical().decode() + "\n"):
        with pytest.raises(InvalidData, match="canonical form"):
            Study.from_bytes(text.encode())


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"features": {"mechanism": "multi-bit", "epsilon": 0.0}}, "epsilon"),
        ({"features": {"mechanism": "multi-bit", "epsilon": 1e9}}, "share of one symbol"),
        ({"features": {"mechanism": "no-such", "epsilon": 1.0}}, "no-such"),
        ({"features": {"mechanism": "multi-bit", "epsilon": 1.0, "delta": 0.1}}, "delta"),
        ({"release": []}, "at least one"),
        ({"release": [{"ask": "features"}]}, "'ask' and 'mechanism'"),
        ({"release": "features"}, "release"),
        ({"directory": "0" * 63}, "directory"),
        ({"features": {"mechanism": "sampled-response", "epsilon": 1.0}}, "categorical"),
        ({"features": {"mechanism": "multi-bit", "epsilon": 1.0, "sample": 7}}, "sample"),
        ({"nodes": 1}, "nodes"),
        ({"nodes": "500"}, "nodes"),
        ({"opens": "2020-01-01T00:00:00"}, "zone"),
        ({"closes": "2019-01-01T00:00:00Z"}, "later than opens"),
        ({"questions": ["one"]}, "6 texts"),
        ({"schema": SCHEMA | {"classes": ["one"]}}, "at least 2"),
        ({"schema": SCHEMA | {"classes": ["one", "one", "two"]}}, "different texts"),
        ({"neighbours": {"epsilon": 3.0}}, "edges are private"),
        ({"title": "   "}, "title"),
        ({"operator": "o\x1b[8m"}, "printable"),
        ({"purpose": "x\n\nWhat it costs\n  Epsilon 0.1"}, "printable"),
        ({"eligible": "\u202eeverybody"}, "printable"),
        ({"schema": SCHEMA | {"classes": ["a", "b", "c\x07"]}}, "printable"),
        ({"class_names": ["a", "b", "c"]}, "class_names"),
        (
            {"features": {"mechanism": "analytic-gaussian", "epsilon": 1e-6, "delta": 0.999}},
            "a delta of at most 0.0001",
        ),
        (
            {
                "schema": {
                    "version": 1,
                    "classes": 3,
                    "private_edges": False,
                    "features": [{"interval": [0, 1], "repeat": 10_000_000}],
                }
            },
            "at most 1000000 features",
        ),
        ({"surprise": 1}, "surprise"),
        ({"format": "privet-study-1"}, "format"),
        ({"schema": {"features": []}}, "keys"),
    ],
)
def test_one_sentence_for_a_bad_manifest(change, expected):
    with pytest.raises(InvalidData, match=expected) as caught:
        Study.read(document(**change))
    assert "\n" not in str(caught.value)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(key=st.sampled_from(sorted(document())), value=_VALUES)
def test_no_value_ends_in_another_error(key, value):
    try:
        study = Study.read(document(**{key: value}))
    except InvalidData:
        return
    assert Study.from_bytes(study.canonical()) == study


@given(st.binary(max_size=200))
def test_no_bytes_end_in_another_error(data):
    with pytest.raises(InvalidData):
        Study.from_bytes(data)


def test_the_promise_names_everything_that_is_sent():
    schema = Schema.numeric(2, low=0.0, high=1.0, classes=3, private_edges=True)
    parts = {"schema": schema, "neighbours": {"epsilon": 3.0}}
    study = make_study(**parts)
    assert study.guarantee().epsilon == 8.0
    assert study.price.epsilon == 8.0  # the device cannot exclude that both ends of a pair are asked
    both = make_study(**parts | {"neighbours": {"epsilon": 3.0, "one_sided": False}})
    assert both.price.epsilon == 8.0  # a relationship is reported twice
    bound = make_study(**parts | {"directory": "0" * 64})
    assert bound.price.epsilon == 8.0  # other devices may count people differently all the same
    prices = [each.guarantee().relationship_epsilon for each in (study, both, bound)]
    assert prices == [6.0, 6.0, 6.0]
    assert both.guarantee().epsilon == 8.0


def test_the_cost_is_never_rounded_down():
    study = make_study(features={"mechanism": "multi-bit", "epsilon": 0.1}, labels={"epsilon": 0.7})
    assert Fraction(study.price.epsilon) >= Fraction(0.1) + Fraction(0.7)
    assert study.price.epsilon == study.guarantee().epsilon


def test_a_study_is_open_from_its_opening_until_before_its_closing(study):
    assert not study.is_open(datetime(2019, 12, 31, 23, 59, 59, tzinfo=UTC))
    assert study.is_open(study.opens)
    assert not study.is_open(study.closes)


LABEL = {"ask": "label", "mechanism": "randomized-response", "epsilon": 1.0}
VECTOR = {"ask": "features", "mechanism": "multi-bit", "epsilon": 1.0}
OPTIONS = {"ask": "resemblance", "mechanism": "offered-response", "epsilon": 1.0, "most": 3}


def planned(*questions):
    return {"system": "anything", "settings": {}, "questions": list(questions)}


def test_a_plan_announces_the_questions_of_all_rounds():
    study = make_study(release=[LABEL], plan=planned(LABEL, OPTIONS))
    assert study.in_rounds
    assert [question.name for question in study.planned.questions] == ["label", "resemblance"]
    assert study.planned.price.epsilon == 2.0
    whole = make_study(release=[LABEL, VECTOR], plan=planned(LABEL, VECTOR))
    assert not whole.in_rounds
    assert not any("later rounds" in text for text in whole.guarantee().unprotected)


@pytest.mark.parametrize(
    ("release", "plan", "words"),
    [
        ([VECTOR], planned(LABEL), "release must not ask 'features', which the plan does not announce"),
        ([{**LABEL, "epsilon": 2.0}], planned(LABEL), "release must ask 'label' with the mechanism that the plan"),
        ([{**VECTOR, "mechanism": "hds"}], planned(VECTOR), "release must ask 'features' with the mechanism"),
        ([{**VECTOR, "sample": 2}], planned(VECTOR), "release must ask 'features' with the mechanism"),
        ([LABEL], planned(LABEL, {**OPTIONS, "scorer": "sha256:" + "0" * 64}), "questions without tables"),
        ([LABEL], planned(LABEL, {**OPTIONS, "scorer": None}), "without empty values"),
        ([LABEL], planned(LABEL, LABEL), "each asked once"),
    ],
)
def test_a_round_asks_what_its_plan_announces(release, plan, words):
    with pytest.raises(InvalidManifest, match=words):
        make_study(release=release, plan=plan)
