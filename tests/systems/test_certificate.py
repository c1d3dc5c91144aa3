import numpy as np
import pytest

from privet.errors import InvalidData
from privet.systems.certificate import Certificate

LIARS = np.array([np.inf, np.nan, 2, 0], dtype=np.float32)
EXACT = Certificate(LIARS, np.array([False, False, True, True]), "false answers")


def test_shares_are_of_the_predictions_that_were_made() -> None:
    assert [EXACT.share(k) for k in range(4)] == pytest.approx([1, 2 / 3, 2 / 3, 1 / 3])
    assert EXACT.facts()["withstands_10"] == pytest.approx(1 / 3)
    assert EXACT.facts()["own_lie"] == pytest.approx(2 / 3)


def test_certified_accuracy_counts_the_right_ones_that_stand() -> None:
    predicted, labels = np.array([0, -1, 1, 1]), np.array([0, 0, 1, 1])
    assert EXACT.accuracy(predicted, labels, np.ones(4, dtype=np.bool_), 1) == 0.5
    assert EXACT.accuracy(predicted, np.array([1, 0, 1, -1]), np.array([True, False, True, True]), 0) == 0.5


def test_numbers_that_were_not_looked_for_are_refused() -> None:
    bounded = Certificate(LIARS, EXACT.own_lie, "false classes", most=3)
    assert list(bounded.numbers()) == [1, 2, 3]
    assert "Numbers above 3 were not looked for." in bounded.in_words()
    with pytest.raises(InvalidData, match="from 0 to 3"):
        bounded.withstands(4)
    with pytest.raises(InvalidData, match="0 or more"):
        EXACT.withstands(-1)


def test_liars_and_false_classes_are_told_apart() -> None:
    false = Certificate(LIARS, EXACT.own_lie, "false classes", 3, "false class")
    assert (EXACT.counted(1), EXACT.counted(2), EXACT.column) == ("1 liar", "2 liars", "certified_liars")
    assert (false.counted(1), false.counted(2)) == ("1 false class", "2 false classes")
    assert false.column == "certified_false_classes"
    assert Certificate(LIARS, EXACT.own_lie, **false.to_dict()).each == "false class"


def test_nobody_is_certified_without_predictions() -> None:
    nothing = Certificate(np.full(2, np.nan, dtype=np.float32), np.zeros(2, dtype=np.bool_), "false answers")
    assert nothing.share(1) == 0
    assert nothing.facts()["own_lie"] == 0
