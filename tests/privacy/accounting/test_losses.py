"""Discretised privacy losses against quadrature, closed forms and dp_accounting's own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.stats import norm

from privet.privacy.accounting.losses import (
    Losses,
    compose_steps,
    loss_step,
    mixed_losses,
    mixture_losses,
    noise_multiplier_of,
    paper_sigma,
)


def hockey_sticks(sigma: float, weights: np.ndarray, epsilon: float) -> tuple[float, float]:
    """Both divergences by quadrature on a fine grid."""
    shifts = np.arange(weights.size) / 2
    x = np.linspace(-12 * sigma, shifts[-1] + 12 * sigma, 200_001)
    mixed = (weights[:, None] * norm.pdf(x, shifts[:, None], sigma)).sum(axis=0)
    alone = norm.pdf(x, 0, sigma)
    factor = math.exp(epsilon)
    pairs = (mixed, alone), (alone, mixed)
    return tuple(float(trapezoid(np.maximum(0, p - factor * q), x)) for p, q in pairs)  # type: ignore[return-value]


def gaussian_delta(shift: float, sigma: float, epsilon: float) -> float:
    a, b = shift / (2 * sigma), epsilon * sigma / shift
    return float(norm.cdf(a - b) - math.exp(epsilon) * norm.cdf(-a - b))


@given(
    sigma=st.floats(0.4, 20),
    raw=st.lists(st.floats(0, 1), min_size=2, max_size=7),
    epsilon=st.floats(0, 4),
)
def test_the_rounded_losses_lie_just_above_quadrature(sigma: float, raw: list[float], epsilon: float) -> None:
    weights = np.array(raw) + 1e-3
    weights /= weights.sum()
    found = mixture_losses(sigma, weights, loss_step(sigma, (weights.size - 1) / 2))
    for losses, exact in zip(found, hockey_sticks(sigma, weights, epsilon), strict=True):
        assert exact - 1e-9 <= losses.delta(epsilon) <= exact + 2e-4
        assert losses.masses.sum() + losses.infinite == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("times", [1, 30])
def test_one_gaussian_has_a_closed_form(times: int) -> None:
    directions = mixture_losses(2.0, np.array([0.0, 1.0]), loss_step(2.0, 0.5))
    found = compose_steps(directions, times, 1e-5)
    exact = gaussian_delta(0.5 * math.sqrt(times), 2.0, found)
    assert 0.999e-5 <= exact <= 1e-5


def test_the_two_directions_are_those_of_dp_accounting() -> None:
    weights, sigma = np.array([0.1, 0.2, 0.4, 0, 0.2, 0, 0.1]), 1.5
    found = mixture_losses(sigma, weights, loss_step(sigma, 3))
    reference = pld.from_mixture_gaussian_mechanism(
        sigma, np.arange(7) / 2, weights, value_discretization_interval=1e-2
    )
    for losses, pmf in zip(found, (reference._pmf_remove, reference._pmf_add), strict=True):
        for epsilon in (0.0, 0.5, 1.0):
            assert losses.delta(epsilon) == pytest.approx(pmf.get_delta_for_epsilon(epsilon), rel=5e-3)


def test_composing_equals_joining_in_a_loop() -> None:
    one = mixture_losses(3.0, np.array([0.7, 0.3]), 1e-3)[0]
    looped = one
    for _ in range(6):
        looped = looped.joined(one)
    for epsilon in (0.0, 0.2, 0.5):
        assert one.composed(7).delta(epsilon) == pytest.approx(looped.delta(epsilon), rel=1e-6)


def test_epsilon_inverts_delta() -> None:
    losses = mixture_losses(1.0, np.array([0.5, 0.2, 0.3]), 1e-3)[0]
    for delta in (1e-2, 1e-4, 1e-6):
        assert losses.delta(losses.epsilon(delta)) == pytest.approx(delta, rel=1e-6)
    assert losses.epsilon(1.0) == 0
    assert Losses(1e-3, 0, np.array([0.9]), 0.1).epsilon(0.05) == math.inf


def test_missing_weight_is_an_outcome_that_only_one_side_has() -> None:
    forward, backward = mixture_losses(1.0, np.array([0.6, 0.3]), 1e-3)
    assert forward.infinite == pytest.approx(0.1)
    assert backward.infinite < 1e-15
    # the mass of 0.4 N(0, 1) - 0.3 N(1/2, 1) where it is positive
    assert backward.delta(0) == pytest.approx(0.4 * gaussian_delta(0.5, 1.0, math.log(0.75)), rel=1e-3)


def test_a_revealed_mixture_averages_the_divergences() -> None:
    mixtures = [np.array([0.8, 0.2]), np.array([0.0, 0.1, 0.9])]
    mixed = mixed_losses(1.0, mixtures, np.array([0.7, 0.2]), 0.1)
    step = mixed[0].step
    for side in (0, 1):
        parts = [mixture_losses(1.0, mixture, step)[side].delta(0.5) for mixture in mixtures]
        assert mixed[side].delta(0.5) == pytest.approx(0.7 * parts[0] + 0.2 * parts[1] + 0.1)


def test_more_noise_than_is_resolved_counts_as_less() -> None:
    found = compose_steps(mixture_losses(1e8, np.array([0.9, 0.1]), 1e-4), 10, 1e-6)
    assert 0 <= found < 1e-3


def test_the_paper_clips_to_one_half() -> None:
    assert paper_sigma(8.0) == 4.0
    assert noise_multiplier_of(paper_sigma(0.3)) == 0.3
