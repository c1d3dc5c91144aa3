from __future__ import annotations

import numpy as np
import pytest

from privet.mechanisms import AnalyticGaussian, Laplace, SeededBits

MECHANISMS = [
    Laplace(epsilon=2.0, dimension=1, low=0.0, high=1.0, steps=6),
    AnalyticGaussian(epsilon=2.0, delta=1e-3, dimension=1, low=0.0, high=1.0, steps=8),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: m.name)
@pytest.mark.parametrize("position", [0.0, 0.3, 1.0])
def test_moments_are_those_of_the_distribution(mechanism, position: float) -> None:
    symbols = mechanism._symbol_distribution(position)
    mean = float(sum(chance * symbol for symbol, (chance, _) in symbols.items()))
    second = float(sum(chance * symbol**2 for symbol, (chance, _) in symbols.items()))
    assert mean == pytest.approx(mechanism.slope * (2 * position - 1), abs=1e-9)
    assert second == pytest.approx(float(mechanism._second_moment(np.array(position))), rel=1e-9)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: m.name)
def test_reports_stay_within_reach(mechanism) -> None:
    reports = mechanism.perturb(np.random.default_rng(0).random((20_000, 1)), SeededBits(1))
    assert np.abs(reports.symbols.astype(int)).max() <= mechanism.largest_symbol
    assert mechanism.in_alphabet(reports.symbols).all()
