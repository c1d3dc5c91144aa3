from __future__ import annotations

import math

import numpy as np
import pytest

from privet.errors import InvalidParameter
from privet.mechanisms import HDS, SeededBits, SquareWave


def half_width(z: float) -> float:
    grown = math.exp(z)
    return (z * grown - grown + 1) / (grown * (grown - z - 1))


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_the_window_is_the_papers(epsilon: float) -> None:
    mechanism = SquareWave(epsilon=epsilon, low=-1.0, high=1.0)
    assert mechanism.window_ratio == pytest.approx(half_width(epsilon), rel=1e-9)
    assert mechanism.window / mechanism.steps == pytest.approx(half_width(epsilon), abs=1 / mechanism.steps)


def test_the_window_of_a_tiny_budget_does_not_cancel() -> None:
    mechanism = SquareWave(epsilon=1e-7, low=-1.0, high=1.0)
    assert mechanism.window_ratio == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_raw_output_has_the_bias_and_variance_of_lemma_3_2(epsilon: float) -> None:
    """On a fine grid the discrete form approaches the paper's continuous one."""
    d, k, x = 4, 2, 0.6
    z = epsilon / k
    mechanism = HDS(epsilon=epsilon, dimension=d, low=-1.0, high=1.0, sample=k, steps=8192)
    grown, b = math.exp(z), half_width(z)
    constant = k / d * b * (grown - 1) / (b * grown + 1)
    # The raw output is the unbiased estimate times C.
    reports = mechanism.perturb(np.full((10, d), x), SeededBits(0))
    raw, unbiased = mechanism.raw_output(reports).dense(), mechanism.estimate(reports).dense()
    np.testing.assert_allclose(raw, constant * unbiased, rtol=2e-3)
    stated = k * (b**3 * grown + 3 * b**2 + 3 * b + 1) / (3 * d * (b * grown + 1)) + (constant - constant**2) * x**2
    assert constant**2 * mechanism.variance(np.full((1, d), x))[0, 0] == pytest.approx(stated, rel=2e-3)


def test_raw_output_stays_within_the_papers_range() -> None:
    mechanism = HDS(epsilon=1.0, dimension=3, low=-1.0, high=1.0, sample=3)
    reports = mechanism.perturb(np.random.default_rng(0).uniform(-1, 1, (2000, 3)), SeededBits(0))
    raw = mechanism.raw_output(reports).dense()
    assert np.abs(raw).max() <= 1 + mechanism.window / mechanism.steps


def test_the_square_wave_is_for_one_value() -> None:
    with pytest.raises(InvalidParameter, match="dimension"):
        SquareWave(epsilon=1.0, low=0.0, high=1.0, dimension=2)
