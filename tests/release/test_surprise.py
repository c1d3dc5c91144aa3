from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from privet.release.surprise import equal_p_value, mean_log_e, share_log_e


@pytest.mark.parametrize(("found", "total"), [(0, 0), (3, 3), (5, 9), (1, 20)])
def test_the_bet_is_the_integral(found: int, total: int) -> None:
    low, high = 0.2, 0.6

    def odds(t: float, at: float) -> float:
        return (t / at) ** found * ((1 - t) / (1 - at)) ** (total - found)

    above = quad(odds, high, 1, args=(high,))[0] / (1 - high)
    below = quad(odds, 0, low, args=(low,))[0] / low
    assert np.isclose(np.exp(share_log_e(found, total, low, high)), (above + below) / 2)


@given(st.lists(st.floats(0.2, 0.6), min_size=1, max_size=7))
def test_honest_reports_gain_nothing_on_average(chances: list[float]) -> None:
    outcomes = np.array(np.meshgrid(*[[0, 1]] * len(chances))).reshape(len(chances), -1).T
    weights = np.prod(np.where(outcomes, chances, 1 - np.array(chances)), axis=1)
    gains = np.exp(share_log_e(outcomes.sum(axis=1), len(chances), 0.2, 0.6))
    assert weights @ gains <= 1 + 1e-9


def test_the_bet_is_rarely_won_however_often_one_looks() -> None:
    draws = np.random.default_rng(0).random((2000, 100)) < 0.6
    found = np.cumsum(draws, axis=1)
    ever = (share_log_e(found, np.arange(1, 101), 0.2, 0.6) >= np.log(20)).any(axis=1).mean()
    assert ever <= 0.05 + 5 * np.sqrt(0.05 / 2000)  # fails once in 10^6


def test_a_share_beyond_its_bounds_is_found() -> None:
    assert share_log_e(800, 1000, 0.2, 0.6) > np.log(1e6)
    assert share_log_e(100, 1000, 0.2, 0.6) > np.log(1e6)
    assert share_log_e(0, 1000, 0.0, 1e-4) < 0


def test_means_of_bets() -> None:
    assert mean_log_e([]) == 0
    assert np.isclose(mean_log_e(np.log([1.0, 3.0])), np.log(2))


def test_groups_of_equal_reports() -> None:
    sizes, peak = np.array([1, 2, 3]), np.log(1e-4)
    found = equal_p_value(sizes, np.full(3, peak), 100)
    assert np.allclose(found, [1, 2 * comb(100, 2) * 1e-4, 4 * comb(100, 3) * 1e-8])


def test_equal_reports_are_as_rare_as_stated() -> None:
    rng = np.random.default_rng(1)
    seldom = 0
    for _ in range(2000):
        sizes = np.unique(rng.integers(0, 5000, 20), return_counts=True)[1]
        seldom += equal_p_value(sizes, np.full(len(sizes), -np.log(5000)), 20).min() <= 0.08
    assert 1 <= seldom <= 0.08 * 2000 + 5 * np.sqrt(0.08 * 2000)
