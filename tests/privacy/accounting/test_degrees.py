"""The search over degrees, and the laws of counts, against exact binomial tails."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from scipy.stats import poisson as poisson_law

from privet.privacy.accounting import degrees as module
from privet.privacy.accounting.degrees import Listeners, binomial, binomials, listeners, over_degrees, poisson


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


def beyond(law: Listeners) -> np.ndarray:
    """The chance of more listeners than each count."""
    return law.lost + np.append(np.cumsum(law.chances[::-1])[::-1][1:], 0.0)


@settings(max_examples=60)
@given(st.integers(2, 2000), st.floats(0.01, 1.0), st.floats(1.0, 3000.0), st.floats(0, 1))
def test_they_lie_above_every_degree_of_a_bracket(low: int, q: float, factor: float, place: float) -> None:
    high = int(low * factor)
    degree = round(low + place * (high - low))
    law = listeners(q, 1.0, low, high, 1e-9)
    scale = 1 / law.pick
    assert 1 <= scale <= low * (1 + 1e-12)
    for each in (low, degree, high):
        assert (binom.sf(law.counts, each, min(1.0, q * scale / each)) <= beyond(law) + 1e-12).all()
    assert law.chances.sum() + law.lost == pytest.approx(1)
    assert (law.chances >= 0).all()
    assert law.lost <= 2e-9
    assert law.counts.size <= 120


@pytest.mark.parametrize(("low", "high"), [(3, 900), (70, 5000), (500, 10**7)])
def test_they_are_little_more_than_the_largest_degree_needs(low: int, high: int) -> None:
    law = listeners(0.3, 1.0, low, high, 1e-9)
    degrees = np.unique(np.geomspace(low, high, 200).astype(int))
    needed = binom.sf(law.counts[:, None], degrees, 0.3 / law.pick / degrees).max(axis=1)
    assert (beyond(law) <= needed + 1e-2).all()


@pytest.mark.parametrize("degree", [0, 1, 9, 60])
def test_one_degree_is_a_binomial_law(degree: int) -> None:
    law = listeners(0.4, 2.0, degree, degree, 1e-12)
    assert law.chances == pytest.approx(binom.pmf(law.counts, degree, 0.4), abs=1e-15)


def test_degrees_that_are_picked_with_certainty_are_bounded_by_the_largest() -> None:
    law = listeners(0.4, 3.0, 2, 6, 1e-12)
    assert law.pick == 1.0
    assert law.chances == pytest.approx(binom.pmf(law.counts, 6, 0.4), abs=1e-15)


def test_many_coins_stand_above_fewer_that_are_likelier(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts of a bracket alone: no degree is computed by itself, and the parts are wide."""
    monkeypatch.setattr(module, "_ALONE", 1)
    monkeypatch.setattr(module, "_FINENESS", 3)
    counts = np.arange(40.0)
    for mean, low, high in ((2.0, 4, 90), (9.5, 10, 11), (9.5, 10, 1000)):
        bound = module._beyond(counts, mean, low, high)
        degrees = np.arange(low, high + 1)
        assert (binom.sf(counts[:, None], degrees, mean / degrees).max(axis=1) <= bound + 1e-12).all()
