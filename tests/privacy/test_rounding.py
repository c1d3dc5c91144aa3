from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from thorough import thorough

from privet.privacy.rounding import at_most, odds_factor


@thorough
@given(figure=st.floats(0, 1e12, allow_subnormal=False), digits=st.integers(1, 6))
def test_a_figure_is_never_rounded_down(figure: float, digits: int) -> None:
    written = at_most(figure, digits)
    assert Fraction(written) >= Fraction(figure) * (1 - Fraction(1, 10**15))  # the last bits of a double apart
    assert Fraction(written) <= Fraction(figure) * (1 + Fraction(10, 10**digits))


@thorough
@given(epsilon=st.floats(0, 690))
def test_odds_are_never_understated(epsilon: float) -> None:
    assert float(odds_factor(epsilon)) >= math.exp(epsilon) * (1 - 1e-15)
    assert (odds_factor(epsilon) == "1") == (epsilon == 0)


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (0.0, "0"),
        (2.0, "2"),
        (0.1, "0.1"),
        (1e-5, "1e-05"),
        (0.1 + 0.2, "0.3"),
        (1e-6, "1e-06"),
        (1234567.0, "1.235e+06"),
        (0.999999, "1"),
    ],
)
def test_figures_read_well(figure: float, text: str) -> None:
    assert at_most(figure) == text


def test_small_and_large_budgets_keep_their_meaning() -> None:
    assert odds_factor(0.0) == "1"
    assert odds_factor(1e-12) == odds_factor(5e-324) == "1.01"  # a little is not nothing
    assert odds_factor(700.0005) == "e^700.1"
