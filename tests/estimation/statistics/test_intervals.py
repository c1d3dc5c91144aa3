"""Intervals by themselves: against closed forms and slow references."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import binomtest, t

from privet.estimation.statistics.intervals import (
    fieller,
    mean_interval,
    possible_shares,
    possible_value,
    share_interval,
)


@pytest.mark.parametrize(("hits", "people"), [(0, 5), (3, 10), (50, 50)])
def test_a_share_has_wilsons_interval(hits, people):
    low, high = share_interval(np.array(hits / people), people)
    expected = binomtest(hits, people).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_a_mean_has_students_interval_and_one_person_says_nothing():
    values = np.array([1.0, 4.0, 2.0, 9.0])
    expected = t.interval(0.95, 3, values.mean(), values.std(ddof=1) / 2)
    assert np.ravel(mean_interval(values.mean(), values.var(ddof=1), 4)) == pytest.approx(expected)
    assert mean_interval(np.array([1.0]), np.array([1.0]), 1)[1] == math.inf


def test_fieller_is_where_a_ratio_differs_significantly():
    spread, people = np.array([[0.04, 0.01], [0.01, 0.02]]), 30
    low, high = fieller(2.0, 1.0, spread, people)
    for end in (low, high):
        variance = spread[0, 0] - 2 * end * spread[0, 1] + end**2 * spread[1, 1]
        assert abs(2.0 - end) / math.sqrt(variance) == pytest.approx(t.ppf(0.975, people - 1))


def test_a_denominator_that_may_be_zero_tells_nothing():
    assert fieller(0.2, 0.1, np.diag([0.01, 0.01]), 30) == (-math.inf, math.inf)


@given(st.lists(st.floats(-2, 2), min_size=2, max_size=6))
def test_possible_shares_are_the_nearest_ones(shares):
    found = possible_shares(np.array(shares))
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    equal = {"type": "eq", "fun": lambda x: x.sum() - 1}
    start = np.full(len(shares), 1 / len(shares))
    slow = minimize(lambda x: ((x - shares) ** 2).sum(), start, bounds=[(0, 1)] * len(shares), constraints=equal)
    assert ((found - shares) ** 2).sum() <= slow.fun + 1e-6


def test_an_interval_is_cut_to_what_is_possible_and_holds_the_estimate():
    found = possible_value(-0.2, 0.0, (-0.1, 0.1), (0.0, 1.0))
    assert (found.value, found.low, found.high, found.unbiased) == (0.0, 0.0, 0.1, -0.2)
    assert possible_value(0.5, 0.4, (0.45, 0.6), (0.0, 1.0)).low == 0.4
