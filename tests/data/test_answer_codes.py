"""Codes of answers: names, several choices, what somebody prefers not to say, and what does not apply."""

import pytest

from privet.data import Categories, Interval, Schema, Several, code_answers
from privet.errors import InvalidData, InvalidParameter

SCHEMA = Schema(
    (
        Categories(2, ("no", "yes"), skip=True),
        Interval(0, 60, skip=True, needs=(0, (1,))),
        Several(3, ("bus", "shower", "canteen"), skip=True),
        Interval(0, 10),
    )
)


@pytest.mark.parametrize(
    ("answers", "codes"),
    [
        (["yes", 12.5, ["bus", "canteen"], 3], [1, 12.5, 5, 3]),
        (["yes", 99, [], 99], [1, 60, 0, 99]),  # only where codes lie above is a number moved at once
        (["no", 12.5, None, 3], [0, 62, 8, 3]),  # whatever was entered does not apply
        ([None, None, [0, 1], 3], [2, 62, 3, 3]),
        (["yes", None, 6, None], [1, 61, 6, None]),
    ],
)
def test_answers_become_numbers(answers, codes):
    assert code_answers(SCHEMA, answers) == codes


def test_a_wrong_number_of_answers_is_left_for_who_checks_it():
    assert code_answers(SCHEMA, ["yes"]) == [1]
    assert code_answers(SCHEMA, ["no", 1, [], 3, 7])[4] == 7


@pytest.mark.parametrize("chosen", [["car"], [3], [True], [-1]])
def test_choices_that_are_not_offered_are_refused(chosen):
    with pytest.raises(InvalidData, match=r"must be among bus, shower, canteen"):
        code_answers(SCHEMA, ["no", 1, chosen, 3])


def test_a_mixed_schema_is_written_and_read_again():
    assert Schema.from_json(SCHEMA.to_json()) == SCHEMA
    assert SCHEMA.mixed
    assert SCHEMA.top.tolist() == [2, 62, 8, 10]
    plain = Schema((Categories(2, ("no", "yes")), Interval(0, 60)))
    assert not plain.mixed
    assert "skip" not in plain.to_json()
    assert "needs" not in plain.to_json()


@pytest.mark.parametrize(
    "entry", ['"skip":false', '"skip":1', '"needs":[0]', '"needs":[1,[0]]', '"needs":[0,[7]]', '"hats":2']
)
def test_answers_of_their_own_are_declared_whole_or_refused(entry):
    text = '{"classes":0,"features":[{"categories":2,"repeat":1},{"interval":[0,1],"repeat":1,%s}],'
    with pytest.raises((InvalidData, InvalidParameter)):
        Schema.from_json((text % entry) + '"private_edges":false,"version":1}')


def test_a_condition_is_on_categories_of_an_earlier_feature():
    with pytest.raises(InvalidParameter, match=r"needs of features\[0\] must name categories of an earlier feature"):
        Schema((Interval(0, 1, needs=(0, (0,))),))
    with pytest.raises(InvalidParameter, match="earlier feature"):
        Schema((Interval(0, 1), Interval(0, 1, needs=(0, (0,)))))
