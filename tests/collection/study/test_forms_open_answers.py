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


def test_another_length_is_refused():
    with pytest.raises(InvalidReports, match="20 bytes"):
        FORM.unpack([0], [bytes(19)])
