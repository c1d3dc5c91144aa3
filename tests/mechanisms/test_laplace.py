from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from privet.errors import InvalidParameter
from privet.mechanisms import Laplace, SeededBits
from privet.mechanisms.laplace import discrete_laplace


@pytest.mark.parametrize("scale", [1, 2, 7])
def test_the_sampler_is_discrete_laplace(scale: int) -> None:
    """Chi-square with a fixed seed; another seed would fail with a chance of 1e-6."""
    draws = discrete_laplace(scale, (60_000,), SeededBits(scale))
    edge = 5 * scale
    points = np.arange(-edge, edge + 1)
    ratio = math.exp(-1 / scale)
    chance = (1 - ratio) / (1 + ratio) * ratio ** np.abs(points)
    inside = np.abs(draws) <= edge
    counts = np.bincount(draws[inside] + edge, minlength=len(points))
    observed = np.append(counts, (~inside).sum())
    expected = np.append(chance, 1 - chance.sum()) * len(draws)
    assert stats.chisquare(observed, expected).pvalue > 1e-6


def test_all_coordinates_have_the_variance_of_the_paper() -> None:
    """8 d^2 / epsilon^2 on [-1, 1] when every coordinate is perturbed (PrivGE, section 3.1)."""
    mechanism = Laplace(epsilon=1.0, dimension=10, low=-1.0, high=1.0, sample=10)
    assert mechanism.variance(np.zeros((1, 10)))[0, 0] == pytest.approx(800, rel=1e-3)


def test_one_sampled_coordinate_has_a_smaller_variance() -> None:
    every = Laplace(epsilon=1.0, dimension=10, low=-1.0, high=1.0, sample=10)
    assert Laplace(epsilon=1.0, dimension=10, low=-1.0, high=1.0).sampled == 1
    assert (
        Laplace(epsilon=1.0, dimension=10, low=-1.0, high=1.0).variance(np.ones((1, 10))).max()
        < every.variance(np.ones((1, 10))).min() / 4
    )


def test_the_scale_is_rounded_to_the_safe_side() -> None:
    for epsilon in (0.3, 1.0, 7.7):
        mechanism = Laplace(epsilon=epsilon, dimension=1, low=0.0, high=1.0, steps=100)
        assert mechanism.scale > 100 / epsilon
        assert mechanism.scale <= 100 / epsilon + 1


def test_a_budget_too_large_for_the_grid_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="epsilon"):
        Laplace(epsilon=20.0, dimension=1, low=0.0, high=1.0, steps=4)
