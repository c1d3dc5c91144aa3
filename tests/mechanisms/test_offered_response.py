from __future__ import annotations

import math

import numpy as np
import pytest

from privet.errors import InvalidData, InvalidParameter, InvalidReports
from privet.mechanisms import OfferedResponse, RandomizedResponse, Reports, SeededBits
from privet.privacy import Unit


def every_answer(most: int) -> np.ndarray:
    return np.array([(position, options) for options in range(2, most + 1) for position in range(options)])


@pytest.mark.parametrize("most", [2, 3, 15, 255])
def test_a_symbol_tells_position_and_number_of_options(most: int) -> None:
    mechanism = OfferedResponse(epsilon=1.0, most=most)
    answers = every_answer(most)
    assert mechanism.num_reports == len(answers)
    codes = Reports(1, np.arange(len(answers))[:, None].astype(mechanism.symbol_dtype))
    positions, options = mechanism.decode(codes)
    assert (np.stack([positions, options], axis=1) == answers).all()
    assert mechanism.symbol_dtype.itemsize == (1 if most <= 15 else 2)


def test_it_is_randomised_response_for_each_number_of_options() -> None:
    """The same words give the same answers as the mechanism for that many classes."""
    mechanism = OfferedResponse(epsilon=0.8, most=9)
    for options in range(2, 10):
        single = RandomizedResponse(epsilon=0.8, classes=options)
        labels = np.arange(200) % options
        expected = single.perturb(labels, SeededBits(options)).symbols[:, 0]
        reports = mechanism.perturb(np.stack([labels, np.full(200, options)], axis=1), SeededBits(options))
        positions, offered = mechanism.decode(reports)
        assert (positions == expected).all()
        assert (offered == options).all()
        assert mechanism.keep[options - 2] == single.keep
        assert mechanism.flip[options - 2] == single.flip


def test_the_estimate_is_empty_beyond_the_offered_options() -> None:
    mechanism = OfferedResponse(epsilon=1.0, most=5)
    reports = Reports(1, np.array([[3], [0], [9]], dtype=np.int8))  # position 1 of 3, 0 of 2, 0 of 5
    estimate = mechanism.estimate(reports)
    assert np.diff(estimate.symbols.indptr).tolist() == [3, 2, 5]
    found = estimate.dense()
    for row, (position, options) in zip(found, [(1, 3), (0, 2), (0, 5)], strict=True):
        expected = RandomizedResponse(epsilon=1.0, classes=options).inverse[position]
        np.testing.assert_allclose(row[:options], expected, rtol=1e-6)
        assert (row[options:] == 0).all()
        assert row.sum() == pytest.approx(1.0, rel=1e-6)


def test_the_likelihood_of_another_number_of_options_is_zero() -> None:
    mechanism = OfferedResponse(epsilon=1.0, most=4)
    reports = Reports(1, np.array([[3], [3], [3]], dtype=np.int8))
    found = mechanism.log_likelihood(reports, np.array([[1, 3], [2, 3], [1, 4]]))
    assert found.tolist() == [math.log(mechanism.keep[1]), math.log(mechanism.flip[1]), -math.inf]


def test_worst_values_have_the_largest_variance_of_all() -> None:
    for epsilon in (0.5, 4.0):
        mechanism = OfferedResponse(epsilon=epsilon, most=12)
        assert mechanism.variance(mechanism.worst_values()).max() == mechanism.variance(every_answer(12)).max()


def test_the_guarantee_is_of_the_features_and_says_that_the_number_of_options_is_known() -> None:
    promise = OfferedResponse(epsilon=0.5).guarantee()
    assert (promise.unit, promise.epsilon) == (Unit.FEATURES, 0.5)
    assert "how many options the user was offered" in promise.unprotected
    assert "between 11% and 62% probability" in OfferedResponse(epsilon=0.5, most=14).sends()
    assert "with 62% probability" in OfferedResponse(epsilon=0.5, most=2).sends()


def test_bad_answers_are_named_without_telling_them() -> None:
    mechanism = OfferedResponse(epsilon=1.0, most=60)
    for wrong in (57, -57):
        with pytest.raises(InvalidData, match=r"position in row 1 must be from 0 to one less") as refusal:
            mechanism.perturb(np.array([[4, 5], [wrong, 5]]), SeededBits(0))
        assert "57" not in str(refusal.value)
    for wrong in (1, 61):
        with pytest.raises(InvalidData, match=rf"about 2 to 60 options, not {wrong} options in row 1"):
            mechanism.perturb(np.array([[0, 5], [0, wrong]]), SeededBits(0))
    for strange in (np.zeros((3, 3), dtype=int), np.zeros(2, dtype=int), np.zeros((3, 2))):
        with pytest.raises(InvalidData, match="integers in two columns"):
            mechanism.perturb(strange, SeededBits(0))


def test_bad_reports_and_parameters_are_named() -> None:
    with pytest.raises(InvalidReports, match="report in row 1"):
        OfferedResponse(epsilon=1.0, most=3).decode(Reports(1, np.array([[4], [5]], dtype=np.int8)))
    for most in (1, 256, 3.0):
        with pytest.raises(InvalidParameter, match="most must be an integer from 2 to 255"):
            OfferedResponse(epsilon=1.0, most=most)  # type: ignore[arg-type]
    for epsilon in (0.0, 1e-20, 60.0):
        with pytest.raises(InvalidParameter, match="epsilon"):
            OfferedResponse(epsilon=epsilon)
