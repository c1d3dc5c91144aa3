from __future__ import annotations

import pytest

from privet import errors


def test_every_error_is_a_privet_error_and_of_one_sentence_shape() -> None:
    samples = [
        errors.InvalidParameter("epsilon", "MultiBit", "a finite number above 0", -1),
        errors.InvalidData("feature matrix", "without NaN", "NaN in row 3"),
        errors.InvalidReports("report", "40 bytes long", 39),
        errors.IncompatibleGuarantees("unit", "label", "node"),
    ]
    for error in samples:
        assert isinstance(error, errors.PrivetError)
        text = str(error)
        assert text.startswith("The ")
        assert text.endswith("instead.")
        assert " must be " in text
        assert "\n" not in text


def test_the_offending_value_is_shortened_to_one_line() -> None:
    text = str(errors.InvalidParameter("values", "x", "short", "a\n" * 500))
    assert len(text) < 200
    assert "\n" not in text


def test_all_lists_every_public_name() -> None:
    public = {name for name in vars(errors) if not name.startswith("_") and name != "annotations"}
    assert sorted(public) == sorted(errors.__all__) == errors.__all__


def test_errors_can_be_caught_as_builtin_kinds() -> None:
    with pytest.raises(ValueError, match="epsilon"):
        raise errors.InvalidParameter("epsilon", "MultiBit", "above 0", 0)
    with pytest.raises(TypeError, match="label and node"):
        raise errors.IncompatibleGuarantees("unit", "label", "node")
