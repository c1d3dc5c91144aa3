"""Numbers at the terminal, which has no language: either decimal mark, and a question where two are possible."""

import pytest

from privet.cli.answering import read_number


@pytest.mark.parametrize(
    ("entered", "value"),
    [
        ("1,5", 1.5), ("1.5", 1.5), (" 60 ", 60), ("\u22127", -7), (".5", 0.5), ("0,500", 0.5), ("1.234,5", 1234.5),
        ("1,234.5", 1234.5), ("1 234", 1234), ("1.234.567", 1234567), ("1500", 1500), ("1.5000", 1.5), ("12.", 12),
    ],
)  # fmt: skip
def test_numbers_are_read_as_people_write_them(entered, value):
    assert read_number(entered) == value


@pytest.mark.parametrize("entered", ["1.500", "12,345", "-1,500"])
def test_what_may_mean_two_numbers_is_asked_about(entered):
    with pytest.raises(ValueError, match=r"could be .* or .*Write"):
        read_number(entered)


@pytest.mark.parametrize("entered", ["", ".", "1,2,3", "1e3", "0x10", "five", "nan", "inf", "1,23.4"])
def test_what_is_no_number_is_told(entered):
    with pytest.raises(ValueError, match="no number"):
        read_number(entered)
