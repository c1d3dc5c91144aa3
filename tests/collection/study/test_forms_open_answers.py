"""What a panel shows: inside the declared domains, or refused."""

import struct

import pytest

from privet.collection.study.forms import OpenForm
from privet.data import Categories, Interval, Schema
from privet.errors import InvalidReports

FORM = OpenForm(Schema((Interval(0.0, 1.0), Categories(3)), 2))


def test_the_bytes_are_the_answers():
    body = FORM.pack([0.25, 2], 1)
    assert body == struct.pack("<ddi", 0.25, 2.0, 1)
    found = FORM.unpack([5], [body])
    assert (found.users.tolist(), found.features.tolist(), found.labels.tolist()) == ([5], [[0.25, 2.0]], [1])


@pytest.mark.parametrize(
    ("features", "label"),
    [([1.5, 0], 0), ([0.5, 3], 0), ([0.5, 0.5], 0), ([float("nan"), 0], 0), ([0.5, 0], 2), ([0.5, 0], -1)],
)
def test_answers_outside_their_domains_are_refused(features, label):
    with pytest.raises(InvalidReports):
        FORM.pack(features, label)
    with pytest.raises(InvalidReports):
        FORM.unpack([0], [struct.pack("<ddi", *features, label)])


def test_friends_follow_where_they_are_shown():
    form = OpenForm(FORM.schema, people=10)
    bodies = [form.pack([0.25, 2], 1, [7, 3, 3]), form.pack([0.5, 0], 0)]
    assert bodies[0] == struct.pack("<ddiii", 0.25, 2.0, 1, 3, 7)
    found = form.unpack([5, 6], bodies)
    assert found.lists.toarray().nonzero()[1].tolist() == [3, 7]
    assert found.lists.shape == (2, 10)
    assert FORM.pack([0.25, 2], 1, [7, 3]) == bodies[0][:20]
    assert FORM.unpack([5], [bodies[0][:20]]).lists is None
    assert form.longest == 20 + 4 * 9


@pytest.mark.parametrize("tail", [(3, 3), (7, 3), (10,), (-1,), (5,)])
def test_friends_who_are_no_different_other_people_are_refused(tail):
    form = OpenForm(FORM.schema, people=10)
    with pytest.raises(InvalidReports, match="friends who are not different other people"):
        form.unpack([5], [struct.pack(f"<ddi{len(tail)}i", 0.25, 2.0, 1, *tail)])


@pytest.mark.parametrize("size", [19, 22, 60])
def test_a_body_that_cannot_hold_friends_is_refused(size):
    with pytest.raises(InvalidReports, match="four more a friend"):
        OpenForm(FORM.schema, people=10).unpack([0], [bytes(size)])


def test_another_length_is_refused():
    with pytest.raises(InvalidReports, match="20 bytes"):
        FORM.unpack([0], [bytes(19)])
