from __future__ import annotations

import pickle

import pytest

from privet import errors

ERRORS = [
    errors.InvalidParameter("epsilon", "a finite number above 0", -1),
    errors.InvalidData("feature matrix", "without NaN", "NaN in row 3"),
    errors.InvalidReports("report", "40 bytes long", 39),
    errors.IncompatibleGuarantees("unit", "label", "node"),
    errors.InvalidParameter("A graph has no budget. Give it to the system."),
    errors.InvalidData("This graph has no labels. Use Graph.replace(labels=...)."),
    errors.UnknownParameter("classes", "multi-bit", ["epsilon", "low"]),
    errors.MissingParameter("rate", "heterpoisson"),
]


@pytest.mark.parametrize("error", ERRORS, ids=str)
def test_every_error_is_a_privet_error_of_one_line_that_can_be_pickled(error: errors.PrivetError) -> None:
    assert isinstance(error, errors.PrivetError)
    assert str(error).endswith(".")
    assert "\n" not in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_a_value_out_of_range_has_one_sentence_shape_and_anything_else_its_own_sentence() -> None:
    number, data, _, _, own, lacking, unknown, missing = map(str, ERRORS)
    assert number == "epsilon must be a finite number above 0, not -1."
    assert data == "The feature matrix must be without NaN, not NaN in row 3."
    assert own == "A graph has no budget. Give it to the system."
    assert unknown == "multi-bit has no parameter 'classes'; it has epsilon, low."
    assert missing == "heterpoisson needs rate."
    assert lacking == "This graph has no labels. Use Graph.replace(labels=...)."


def test_nothing_is_a_value_that_can_be_refused() -> None:
    assert str(errors.InvalidData("schema", "declared", None)) == "The schema must be declared, not None."
    assert str(errors.InvalidParameter("root", "a directory", None)) == "root must be a directory, not None."


def test_the_offending_value_is_shortened_to_one_line() -> None:
    text = str(errors.InvalidParameter("values", "short", "a\n" * 500))
    assert len(text) < 200
    assert "\n" not in text


def test_all_lists_every_public_name() -> None:
    public = {
        name
        for name in vars(errors)
        if not name.startswith("_") and name not in ("annotations", "overload", "Collection")
    }
    assert sorted(public) == sorted(errors.__all__) == errors.__all__


def test_errors_can_be_caught_as_builtin_kinds() -> None:
    with pytest.raises(ValueError, match="epsilon"):
        raise errors.InvalidParameter("epsilon", "above 0", 0)
    with pytest.raises(TypeError, match="label and node"):
        raise errors.IncompatibleGuarantees("unit", "label", "node")


def test_the_parts_of_an_error_about_a_parameter_can_be_read() -> None:
    number, own, unknown = ERRORS[0], ERRORS[4], ERRORS[6]
    assert (number.parameter, number.found) == ("epsilon", -1)
    assert number.expected == "a finite number above 0"
    assert (unknown.parameter, unknown.owner, unknown.known) == ("classes", "multi-bit", ("epsilon", "low"))
    assert own.parameter is None
