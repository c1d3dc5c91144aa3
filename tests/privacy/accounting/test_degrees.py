"""The search over degrees, and the laws of counts, against exact binomial tails."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from scipy.stats import poisson as poisson_law

from privet.privacy.accounting.degrees import binomial, binomials, over_degrees, poisson


@settings(max_examples=50)
@given(st.integers(0, 400), st.integers(1, 900), st.integers(0, 4))
def test_the_search_over_degrees_never_misses_a_peak(peak: int, largest: int, M: int) -> None:
    """A spike at one degree above M: every bracket that covers it must lead there."""
    peak = min(max(peak, M), largest) if M else 0  # without a multiplier all degrees are alike

    def bound(low: int, high: int) -> float:
        return 2.0 if low <= peak <= high else 1.0

    assert over_degrees(bound, M, largest, most_bounds=10_000) == (2.0, peak)
    assert over_degrees(bound, M, largest, most_bounds=1)[0] == 2.0  # sound without any splitting


@pytest.mark.parametrize(("trials", "chance"), [(0, 0.3), (5, 0.3), (5, 1.0), (2000, 0.01), (100_000, 0.2)])
def test_truncated_counts_lose_little_and_say_how_much(trials: int, chance: float) -> None:
    weights, lost = binomial(trials, chance, 1e-12)
    assert weights.sum() + lost == pytest.approx(1, abs=1e-9)
    assert lost <= 1e-12
    laws, beyond = binomials(np.array([0.0, trials]), chance, 1e-12)
    assert np.array_equal(laws[1], weights)
    assert laws[0].tolist() == [1.0] + [0.0] * (weights.size - 1)
    assert (beyond <= 1e-12).all()
    assert poisson(min(trials * chance, 100), 1e-12).sum() == pytest.approx(1, abs=2e-12)


@settings(max_examples=40)
@given(st.integers(2, 50), st.floats(0.0, 1.0), st.integers(1, 20))
def test_a_poisson_count_dominates_every_larger_degree(least: int, fraction: float, factor: int) -> None:
    """Bi(u D, M/D) <= Poisson(-u a log(1 - M/a)) in distribution for D >= a > M."""
    degree = least * factor
    counts = np.arange(30)
    mean = -fraction * least * math.log1p(-1 / least)
    assert (binom.sf(counts, math.floor(fraction * degree), 1 / degree) <= poisson_law.sf(counts, mean) + 1e-9).all()
