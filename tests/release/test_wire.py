"""Bodies and their JSON form come back as they were; what no device can have sent is InvalidReports, nothing else."""

from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_releases import NODES, POPULATIONS, Followers, fitting, people, releases

from privet.errors import InvalidReports
from privet.mechanisms import MECHANISMS, AdjacencyResponse, SeededBits
from privet.release import ASKS, Answers, LocalRelease, Question
from privet.release.asks.length import Length
from privet.release.asks.neighbours import Neighbours

USERS = st.lists(st.integers(0, NODES - 1), min_size=1, unique=True)
SEEDS = st.integers(0, 10**6)


def same(one: Answers, other: Answers) -> bool:
    return all(
        np.array_equal(one[name].users, other[name].users) and one[name].reports == other[name].reports for name in one
    )


def test_every_mechanism_answers_some_ask() -> None:
    """The random releases below draw from all of them."""
    asked = {
        question.mechanism.name
        for population in POPULATIONS.values()
        for ask in ASKS.values()
        for question in fitting(ask(), population)
    }
    assert asked == set(MECHANISMS)


@settings(max_examples=60)
@given(release=releases(), users=USERS, seed=SEEDS)
def test_bodies_come_back_as_they_were_sent(release: LocalRelease, users: list[int], seed: int) -> None:
    answers = release.perturb(people(release.population, seed, users), SeededBits(seed))
    bodies = release.wire.pack(answers)
    assert len(bodies) == len(users)
    assert all(len(body) <= release.wire.longest for body in bodies)
    again = release.wire.unpack(users, bodies)
    assert same(again, answers)
    assert release.wire.pack(again) == bodies
    for user, body in zip(users, bodies, strict=True):  # one person's body does not depend on the others'
        assert release.wire.pack(release.wire.unpack([user], [body])) == [body]


@settings(max_examples=40)
@given(release=releases(), user=st.integers(0, NODES - 1), seed=SEEDS)
def test_the_json_form_stands_for_the_same_bytes(release: LocalRelease, user: int, seed: int) -> None:
    answers = release.perturb(people(release.population, seed, [user]), SeededBits(seed))
    (body,) = release.wire.pack(answers)
    document = json.loads(json.dumps(release.wire.to_json(body)))
    assert set(document) == {question.name for question in release.questions}
    assert release.wire.from_json(document) == body


@settings(max_examples=80)
@given(release=releases(), user=st.integers(0, NODES - 1), seed=SEEDS, data=st.data())
def test_a_changed_body_is_refused_or_says_exactly_what_it_says(
    release: LocalRelease, user: int, seed: int, data: st.DataObject
) -> None:
    answers = release.perturb(people(release.population, seed, [user]), SeededBits(seed))
    (body,) = release.wire.pack(answers)
    cut = data.draw(st.integers(0, len(body)))
    changed = data.draw(st.sampled_from([body[:cut], body[cut:]])) + data.draw(st.binary(max_size=12))
    for read in (
        lambda: release.wire.pack(release.wire.unpack([user], [changed])),
        lambda: _json_twice(release, changed),
    ):
        with suppress(InvalidReports):
            assert read() == [changed]  # nothing in a body that is taken is dropped or repaired


def _json_twice(release: LocalRelease, body: bytes) -> list[bytes]:
    return [release.wire.from_json(release.wire.to_json(body))]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=80)
@given(release=releases(), user=st.integers(0, NODES - 1), seed=SEEDS, data=st.data())
def test_other_documents_are_refused(release: LocalRelease, user: int, seed: int, data: st.DataObject) -> None:
    answers = release.perturb(people(release.population, seed, [user]), SeededBits(seed))
    document = release.wire.to_json(release.wire.pack(answers)[0])
    name = data.draw(st.sampled_from(sorted(document)))
    wrong = data.draw(st.one_of(JSON, JSON.map(lambda value: {**document, name: value})))
    with suppress(InvalidReports):
        body = release.wire.from_json(wrong)
        assert release.wire.to_json(body) == wrong
        release.wire.unpack([user], [body])


def test_all_lists_but_the_last_carry_their_count() -> None:
    population = POPULATIONS["numeric"]
    lists = AdjacencyResponse.declare(population, epsilon=2.0)
    release = LocalRelease((Question(Neighbours(), lists), Question(Followers(), lists)), population)
    body = release.wire.from_json({"neighbours": [3, 5], "followers": [8]})
    assert np.frombuffer(body, "<i4").tolist() == [2, 3, 5, 8]
    assert release.wire.to_json(body) == {"neighbours": [3, 5], "followers": [8]}
    for words, sentence in (
        ([], "lacks the count"),
        ([3, 1, 2], "as many entries as it says"),
        ([-1, 1, 2], "as many entries as it says"),
        ([1, 0], "ascending ids of other nodes"),
        ([0, 7, 7], "ascending ids of other nodes"),
    ):
        with pytest.raises(InvalidReports, match=sentence):
            release.wire.unpack([0], [np.array(words, dtype="<i4").tobytes()])


def test_a_body_has_no_header() -> None:
    """The release fixes every length, so the symbols are all there is."""
    population = POPULATIONS["categorical"]
    release = LocalRelease.from_list(
        [
            {"ask": "features", "mechanism": "sampled-response", "epsilon": 1.0, "sample": 2},
            {"ask": "label", "mechanism": "randomized-response", "epsilon": 1.0},
        ],
        population,
    )
    document = {"features": {"coordinates": [0, 3], "symbols": [1, 299]}, "label": 199}
    body = release.wire.from_json(document)
    assert body.hex() == "000000000300000001002b01c700"
    assert release.wire.longest == len(body)


def test_every_body_needs_its_node() -> None:
    population = POPULATIONS["numeric"]
    (question,) = fitting(Length(), population)
    release = LocalRelease((question,), population)
    bodies = release.wire.pack(release.perturb(people(population, 0, [1, 2]), SeededBits(0)))
    with pytest.raises(InvalidReports, match="one for each of 3 nodes"):
        release.wire.unpack([1, 2, 3], bodies)
    with pytest.raises(InvalidReports, match="9 in row 1"):
        release.wire.unpack([1, 9], bodies)
    assert len(release.wire.unpack([], [])["length"]) == 0
