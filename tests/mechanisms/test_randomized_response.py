from __future__ import annotations

import math

import numpy as np
import pytest

from privet.errors import InvalidData, InvalidParameter, InvalidReports
from privet.mechanisms import RandomizedResponse, Reports, SeededBits


@pytest.mark.parametrize("classes", [2, 3, 70])
def test_transition_and_inverse(classes: int) -> None:
    mechanism = RandomizedResponse(epsilon=1.5, classes=classes)
    p = math.exp(1.5) / (math.exp(1.5) + classes - 1)
    assert mechanism.keep == pytest.approx(p, rel=1e-12)
    np.testing.assert_allclose(mechanism.transition.sum(axis=1), 1)
    np.testing.assert_allclose(mechanism.transition @ mechanism.inverse, np.eye(classes), atol=1e-9)


def test_the_estimate_is_a_row_of_the_inverse() -> None:
    mechanism = RandomizedResponse(epsilon=1.0, classes=4)
    reports = mechanism.perturb(np.array([0, 1, 2, 3]), SeededBits(0))
    expected = mechanism.inverse[reports.symbols[:, 0]]
    np.testing.assert_allclose(mechanism.estimate(reports).dense(), expected)


@pytest.mark.parametrize("classes", [1, 0, 2.0, "3", 2**44])
def test_a_bad_number_of_classes_is_refused(classes: object) -> None:
    with pytest.raises(InvalidParameter, match="classes must be an integer from 2"):
        RandomizedResponse(epsilon=1.0, classes=classes)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, math.inf, 1e-20, 60.0])
def test_a_bad_budget_is_refused(epsilon: float) -> None:
    with pytest.raises(InvalidParameter, match="epsilon"):
        RandomizedResponse(epsilon=epsilon, classes=3)


def test_labels_must_be_classes() -> None:
    mechanism = RandomizedResponse(epsilon=1.0, classes=3)
    with pytest.raises(InvalidData, match=r"classes in \[0, 3\); the label in row 2 is outside"):
        mechanism.perturb([0, 1, 3], SeededBits(0))
    with pytest.raises(InvalidData, match="vector of integers"):
        mechanism.perturb([0.5], SeededBits(0))
    with pytest.raises(InvalidReports, match="row 1"):
        mechanism.estimate(Reports(1, np.array([[0], [3]], dtype=np.int8)))
    with pytest.raises(InvalidReports, match="1 of 1 coordinates"):
        mechanism.estimate(Reports(2, np.array([[0, 1]], dtype=np.int8)))
    with pytest.raises(InvalidReports, match="1 of 1 coordinates"):
        mechanism.estimate(Reports(100, np.array([[2]], dtype=np.int8), np.array([[57]], dtype=np.int32)))
    with pytest.raises(InvalidReports, match="int8 symbols"):
        mechanism.estimate(Reports(1, np.array([[2]], dtype=np.int64)))


def test_many_classes_fit_their_symbols() -> None:
    for classes in (128, 129, 40_000):
        mechanism = RandomizedResponse(epsilon=12.0, classes=classes)
        labels = np.array([classes - 1] * 50)
        reports = mechanism.perturb(labels, SeededBits(0))
        assert (reports.symbols.max(), reports.symbols.min() >= 0) == (classes - 1, True)
