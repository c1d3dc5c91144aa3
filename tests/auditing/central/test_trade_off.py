from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from privet.auditing.central.trade_off import TradeOff
from privet.errors import InvalidParameter
from privet.privacy.accounting.losses import mixture_losses


@pytest.mark.parametrize("hits", [0.0, 0.001, 0.05, 0.4, 0.73, 0.9, 0.9999, 1.0])
def test_the_curve_of_one_budget_is_its_two_lines(hits: float) -> None:
    epsilon, delta = 0.7, 0.01
    lines = 0.0, math.exp(-epsilon) * (hits - delta), 1 - delta - math.exp(epsilon) * (1 - hits)
    assert TradeOff.approximate(epsilon, delta).least_alarms(hits) == pytest.approx(max(lines), abs=1e-12)


def test_a_gaussian_curve_lies_barely_below_the_exact_one() -> None:
    """Few tangents make a claim weaker, and never stronger."""
    curve = TradeOff.gaussian(0.8)
    for hits in np.linspace(0.001, 0.999, 97):
        exact = norm.cdf(norm.ppf(hits) - 0.8)
        assert exact - 2e-4 < curve.least_alarms(float(hits)) <= exact + 1e-12


def test_privacy_losses_of_a_gaussian_give_the_same_curve() -> None:
    """N(1/2, 1) against N(0, 1), both directions alike; losses are rounded up."""
    curve, exact = TradeOff.of_losses(mixture_losses(1.0, np.array([0.0, 1.0]), 1e-3)), TradeOff.gaussian(0.5)
    for hits in (0.01, 0.2, 0.5, 0.8, 0.99):
        assert exact.least_alarms(hits) - 1e-3 < curve.least_alarms(hits) <= exact.least_alarms(hits) + 1e-4


def test_bad_claims_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="epsilon"):
        TradeOff.approximate(-1.0, 0.0)
    with pytest.raises(InvalidParameter, match="mu"):
        TradeOff.gaussian(0.0)
