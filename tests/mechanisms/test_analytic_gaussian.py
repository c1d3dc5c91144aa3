from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from privet.auditing import audit
from privet.errors import InvalidParameter
from privet.mechanisms import AnalyticGaussian
from privet.mechanisms.analytic_gaussian import analytic_sigma


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-4), (1.0, 1e-5), (4.0, 1e-9)])
def test_analytic_sigma_solves_its_equation(epsilon: float, delta: float) -> None:
    sigma = analytic_sigma(epsilon, delta)
    found = norm.cdf(0.5 / sigma - epsilon * sigma) - math.exp(epsilon) * norm.cdf(-0.5 / sigma - epsilon * sigma)
    assert found == pytest.approx(delta, rel=1e-6)


@pytest.mark.parametrize("dimension", [1, 30, 5000])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-4), (1.0, 1e-4), (8.0, 1e-6)])
def test_calibration_is_tight(dimension: int, epsilon: float, delta: float) -> None:
    """At these budgets the discrete noise needs at most 0.5 % more than real Gaussian noise would."""
    mechanism = AnalyticGaussian(epsilon=epsilon, delta=delta, dimension=dimension, low=0.0, high=1.0)
    ideal = math.sqrt(dimension) * analytic_sigma(epsilon, delta)
    assert 0.999 <= mechanism.sigma / mechanism.grid_steps / ideal <= 1.005


@pytest.mark.parametrize(("epsilon", "steps"), [(0.5, 1), (1.5, 2)])
def test_two_coordinates_are_bounded_exactly(epsilon: float, steps: int) -> None:
    """The joint delta of two coordinates, by listing all pairs of symbols: at most the claim, and near it."""
    mechanism = AnalyticGaussian(epsilon=epsilon, delta=1e-3, dimension=2, low=0.0, high=1.0, steps=steps)
    corners = [((0.0, 0.0), (1.0, 1.0)), ((0.0, 1.0), (1.0, 0.0)), ((0.0, 0.0), (1.0, 0.0)), ((0.3, 0.0), (0.9, 1.0))]
    result = audit(mechanism, pairs=corners, draws=0)
    assert result.holds
    assert result.delta > 0.97e-3


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, math.nan, 1])
def test_a_bad_delta_is_refused(delta: float) -> None:
    with pytest.raises(InvalidParameter, match="delta"):
        AnalyticGaussian(epsilon=1.0, delta=delta, dimension=1, low=0.0, high=1.0)


def test_a_delta_beyond_the_tables_precision_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="finite precision"):
        AnalyticGaussian(epsilon=1.0, delta=1e-18, dimension=1, low=0.0, high=1.0)


def test_the_bound_for_large_sigma_agrees_with_the_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    from privet.mechanisms import analytic_gaussian as gaussian

    for sigma, shift, epsilon in ((3000.0, 500, 0.5), (8000.0, 8000, 1.0), (5000.0, 20, 0.001)):
        summed = gaussian._hockey_stick(sigma, shift, epsilon)
        monkeypatch.setattr(gaussian, "_SUMMED", 1.0)
        bounded = gaussian._hockey_stick(sigma, shift, epsilon)
        monkeypatch.undo()
        assert summed * (1 - 1e-6) <= bounded <= summed * 1.005


def test_many_features_and_a_small_budget_are_calibrated() -> None:
    mechanism = AnalyticGaussian(epsilon=0.002, delta=1e-4, dimension=5000, low=0.0, high=1.0)
    assert mechanism.sigma > 1000


@pytest.mark.parametrize(("epsilon", "delta"), [(41.0, 1e-4), (1.0, 1e-15)])
def test_what_finite_precision_cannot_do_is_refused(epsilon: float, delta: float) -> None:
    with pytest.raises(InvalidParameter, match="finite precision"):
        AnalyticGaussian(epsilon=epsilon, delta=delta, dimension=100, low=0.0, high=1.0)


def test_the_table_is_symmetric() -> None:
    weights = AnalyticGaussian(epsilon=1.0, delta=1e-4, dimension=3, low=0.0, high=1.0)._weights
    assert (weights == weights[::-1]).all()
    assert len(weights) % 2 == 1
    assert np.all(np.diff(weights[: len(weights) // 2 + 1]) >= 0)
