from __future__ import annotations

import math

import numpy as np
import pytest

from privet.mechanisms import Piecewise


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_variance_approaches_the_continuous_one(epsilon: float) -> None:
    """In one dimension x^2 / (e^(z/2) - 1) + (e^(z/2) + 3) / (3 (e^(z/2) - 1)^2) (Wang et al. 2019)."""
    mechanism = Piecewise(epsilon=epsilon, dimension=1, low=-1.0, high=1.0, steps=8192)
    root = math.exp(epsilon / 2)
    for x in (-1.0, 0.0, 0.4):
        expected = x**2 / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)
        assert mechanism.variance([[x]])[0, 0] == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize(("epsilon", "sampled"), [(1.0, 1), (4.9, 1), (5.0, 2), (100.0, 6)])
def test_default_number_of_coordinates(epsilon: float, sampled: int) -> None:
    assert Piecewise(epsilon=epsilon, dimension=6, low=0.0, high=1.0).sampled == sampled


def test_output_range_is_the_papers() -> None:
    mechanism = Piecewise(epsilon=1.0, dimension=1, low=-1.0, high=1.0, steps=8192)
    largest = mechanism.largest_symbol / mechanism.slope
    root = math.exp(0.5)
    assert largest == pytest.approx((root + 1) / (root - 1), rel=1e-3)
    assert np.isfinite(largest)
