"""Laws of the number of listeners against exact binomial tails."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from privet.privacy.accounting import listeners as module
from privet.privacy.accounting.listeners import Listeners, listeners


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
