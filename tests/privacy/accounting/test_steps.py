"""Losses of one step against quadrature, simulation and the sampler's whole process on tiny graphs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.stats import binom, norm

from privet.privacy.accounting.degrees import shift_weights
from privet.privacy.accounting.losses import compose_steps, loss_step, mixture_losses
from privet.privacy.accounting.steps import Step, bracket_step, kept_step, revealed_step, step_losses


def test_one_step_of_degree_one_by_quadrature() -> None:
    sigma, q = 1.2, 0.3
    x = np.linspace(-15, 16, 400_001)
    none, half, one = (norm.pdf(x, shift, sigma) for shift in (0, 0.5, 1))
    forward, backward = step_losses(sigma, q, 1, 1.0)
    for level in (0.1, 0.5, 1.0):
        factor = math.exp(level)
        for losses, sign in ((forward, 1), (backward, -1)):
            exact = 0.0
            for chance, mixture in ((1 - q, q * half + (1 - q) * none), (q, q * half + (1 - q) * one)):
                p, r = (mixture, none)[::sign]
                exact += chance * float(trapezoid(np.maximum(0, p - factor * r), x))
            assert exact - 1e-9 <= losses.delta(level) <= exact + 1e-4


def coins(degree: int, q: float, p: float) -> Iterator[tuple[float, tuple[int, ...], tuple[int, ...]]]:
    """All outcomes: which out-neighbours are central, and which of them would pick the node."""
    for central in itertools.product((0, 1), repeat=degree):
        for pick in itertools.product((0, 1), repeat=degree):
            chance = math.prod(q if c else 1 - q for c in central) * math.prod(p if k else 1 - p for k in pick)
            yield chance, central, pick


def whole_process(
    sigma: float, q: float, degree: int, p: float, own: float, without: list[float], with_node: list[float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Densities of the noisy sum with and without the node: no conditioning, no bound, every coin.

    ``without[j]`` and ``with_node[j]`` are neighbour j's clipped gradients in [-1/2, 1/2]; ``own`` is the node's.
    """
    x = np.linspace(-12 * sigma - degree, 12 * sigma + degree, 60_001)
    absent, present = np.zeros_like(x), np.zeros_like(x)
    for chance, central, pick in coins(degree, q, p):
        base = sum(c * g for c, g in zip(central, without, strict=True))
        moved = sum(c * (h if k else g) for c, k, g, h in zip(central, pick, without, with_node, strict=True))
        absent += chance * norm.pdf(x, base, sigma)
        present += chance * (q * norm.pdf(x, base + own, sigma) + (1 - q) * norm.pdf(x, moved, sigma))
    return x, present, absent


@settings(max_examples=15)
@given(
    sigma=st.floats(0.5, 3),
    q=st.floats(0.05, 0.9),
    degree=st.integers(1, 3),
    M=st.sampled_from([1, 2]),
    gradients=st.lists(st.sampled_from([-0.5, -0.2, 0.0, 0.5]), min_size=7, max_size=7),
    level=st.floats(0, 2),
)
def test_the_real_process_on_tiny_graphs_stays_below(
    sigma: float, q: float, degree: int, M: int, gradients: list[float], level: float
) -> None:
    p = min(1.0, M / degree)
    x, present, absent = whole_process(
        sigma, q, degree, p, gradients[0], gradients[1 : degree + 1], gradients[-degree:]
    )
    factor = math.exp(level)
    forward, backward = step_losses(sigma, q, degree, p)
    assert trapezoid(np.maximum(0, present - factor * absent), x) <= forward.delta(level) + 1e-8
    assert trapezoid(np.maximum(0, absent - factor * present), x) <= backward.delta(level) + 1e-8


def test_averaging_over_central_neighbours_first_would_be_too_small() -> None:
    """The same process refutes the tempting accountant that mixes the weights over C before the divergence."""
    sigma, q = 0.5, 0.5
    # the neighbour's gradient turns round when it picks the node; without the node it points the other way
    x, present, absent = whole_process(sigma, q, 1, 1.0, -0.5, [0.5], [-0.5])
    averaged = mixture_losses(sigma, shift_weights(q, np.array([1 - q, q])), loss_step(sigma, 1))
    proven = step_losses(sigma, q, 1, 1.0)
    gaps, safe = [], []
    for level in np.linspace(0, 3, 13):
        factor = math.exp(level)
        for side, (p, r) in enumerate(((present, absent), (absent, present))):
            true = float(trapezoid(np.maximum(0, p - factor * r), x))
            gaps.append(true - averaged[side].delta(level))
            safe.append(true - proven[side].delta(level))
    assert max(gaps) > 1e-4
    assert max(safe) <= 1e-8


@pytest.mark.parametrize("side", [0, 1], ids=["remove", "add"])
def test_composed_losses_agree_with_simulation(side: int) -> None:
    """Monte Carlo of the dominating pair at T = 8; the bands hold with probability 1 - 1e-6 (4.9 standard errors)."""
    sigma, q, degree, M, T, level, draws = 1.5, 0.3, 2, 1, 8, 0.8, 400_000
    generator = np.random.default_rng(7)
    p, total = M / degree, np.zeros(draws)
    for _ in range(T):
        count = generator.binomial(degree, q, draws)
        shift = np.where(generator.random(draws) < q, 0.5, generator.binomial(count, p)) if side == 0 else 0.0
        x = shift + sigma * generator.standard_normal(draws)
        ratio = q * np.exp((0.5 * x - 0.125) / sigma**2)
        for k in range(degree + 1):
            ratio += (1 - q) * binom.pmf(k, count, p) * np.exp((k * x - k * k / 2) / sigma**2)
        total += np.log(ratio) if side == 0 else -np.log(ratio)
    values = np.maximum(0, -np.expm1(np.minimum(0, level - total)))
    error = 4.9 * values.std() / math.sqrt(draws)
    found = step_losses(sigma, q, degree, p)[side].composed(T).delta(level)
    assert abs(found - values.mean()) <= error + 1e-4
    assert found > 5 * error  # else the comparison would be empty


def test_neither_direction_may_be_forgotten() -> None:
    directions = step_losses(1.0, 0.3, 2, 0.5)
    apart = [losses.composed(4).epsilon(0.05) for losses in directions]
    assert abs(apart[0] - apart[1]) > 1e-2
    assert compose_steps(directions, 4, 0.05) == max(apart)
    assert compose_steps(directions[::-1], 4, 0.05) == max(apart)


@pytest.mark.parametrize(("low", "high"), [(2, 3), (7, 9), (20, 400), (150, 3000)])
@pytest.mark.parametrize("step", [bracket_step, kept_step, revealed_step])
def test_a_bracket_lies_above_its_degrees(step: Step, low: int, high: int) -> None:
    sigma, q, M, share = 0.7, 0.3, 1.5, 1e-5
    whole = step(sigma, q, M, share, low, high)
    for degree in {low, (low + high) // 2, high}:
        one = step(sigma, q, M, share, degree, degree)
        for side in (0, 1):
            for level in (0.0, 1.0, 8.0):  # the last is for the largest k
                assert one[side].delta(level) <= whole[side].delta(level) * 1.001 + 1e-7
