from __future__ import annotations

import math

import numpy as np
import pytest

from privet.mechanisms import MultiBit, SeededBits


def test_rectifier_is_equation_4() -> None:
    mechanism = MultiBit(epsilon=1.0, dimension=10, low=2.0, high=6.0, sample=2)
    reports = mechanism.perturb(np.full((50, 10), 3.0), SeededBits(0))
    z = math.exp(0.5)
    expected = 10 * 4 / (2 * 2) * (z + 1) / (z - 1) * reports.to_sparse().toarray().astype(float) + 4.0
    np.testing.assert_allclose(mechanism.estimate(reports).dense(), expected, rtol=1e-12)


def test_variance_is_equation_5() -> None:
    mechanism = MultiBit(epsilon=1.0, dimension=10, low=-1.0, high=1.0, sample=2)
    values = np.linspace(-1, 1, 10)
    z = math.exp(0.5)
    expected = 10 / 2 * ((z + 1) / (z - 1)) ** 2 - values**2
    np.testing.assert_allclose(mechanism.variance(values)[0], expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("epsilon", "dimension", "sampled"),
    [(0.5, 100, 1), (2.17, 100, 1), (2.19, 100, 1), (4.4, 100, 2), (25.0, 3, 3), (1000.0, 460, 458)],
)
def test_the_number_of_sampled_coordinates_is_equation_6(epsilon: float, dimension: int, sampled: int) -> None:
    assert MultiBit(epsilon=epsilon, dimension=dimension, low=0.0, high=1.0).sampled == sampled


def test_an_end_of_the_range_gives_the_bias_of_the_paper() -> None:
    mechanism = MultiBit(epsilon=1.0, dimension=1, low=0.0, high=1.0)
    plus = mechanism.exact_distribution([1.0])[(0,), (1,)][0]
    assert float(plus) == pytest.approx(math.e / (math.e + 1), rel=1e-12)
