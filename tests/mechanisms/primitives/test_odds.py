from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from thorough import thorough

from privet.errors import InvalidParameter
from privet.mechanisms.primitives.odds import exp_enclosure, odds


def series(x: Fraction, terms: int = 200) -> Fraction:
    """A partial sum of the exponential series: for x >= 0 a lower bound, made without any floating point."""
    total = term = Fraction(1)
    for k in range(1, terms):
        term = term * x / k
        total += term
    return total


@thorough
@given(st.just(0.0) | st.floats(1e-9, 29.0))
def test_the_enclosure_contains_exp_and_is_narrow(x: float) -> None:
    lower, upper = exp_enclosure(Fraction(x))
    partial = series(Fraction(x))
    assert lower <= partial * (1 + Fraction(1, 10**50))
    assert partial <= upper
    assert upper - lower < upper / 10**50


def test_the_enclosure_works_below_zero() -> None:
    lower, upper = exp_enclosure(Fraction(-3, 7))
    assert lower <= 1 / series(Fraction(3, 7)) <= upper


@thorough
@given(st.floats(1e-6, 20.0), st.integers(1, 50), st.integers(1, 50))
def test_weights_are_safe_tight_and_within_a_word(epsilon: float, highs: int, lows: int) -> None:
    weights = odds(Fraction(epsilon), highs=highs, lows=lows)
    assert Fraction(weights.high, weights.low) <= series(Fraction(epsilon))
    assert weights.total == highs * weights.high + lows * weights.low <= 1 << 53
    assert math.log(weights.high) - math.log(weights.low) == pytest.approx(epsilon, rel=1e-3)


@pytest.mark.parametrize("epsilon", [1e-16, 35.0, 1e6])
def test_a_budget_beyond_finite_precision_is_refused(epsilon: float) -> None:
    with pytest.raises(InvalidParameter, match=r"epsilon must be .* \(finite precision\)"):
        odds(Fraction(epsilon))
