"""True and published figures of symmetric multivariate Laplace noise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import kv
from scipy.stats import binom

from privet.errors import InvalidParameter
from privet.privacy.accounting.sml import published_epsilon, sml_delta, sml_log_density


def test_the_lemma_holds_in_one_dimension_only() -> None:
    """delta at epsilon = 1 for sensitivity / sigma = 0.1: nothing in one dimension, and more with every other."""
    found = [sml_delta(1.0, 0.1, 1.0, d) for d in (1, 2, 10, None)]
    assert found[0] == 0
    assert found == sorted(found)
    assert found[2] == pytest.approx(3.52e-3, rel=1e-2)
    assert found[-1] == pytest.approx(4.963e-3, rel=1e-3)


@pytest.mark.parametrize("dimension", [2, 3, 10, 41])
def test_the_density_is_the_paper_s(dimension: int) -> None:
    log_r = np.log(np.array([0.3, 1.0, 2.5]))
    order = (2 - dimension) / 2
    square = np.exp(2 * log_r)
    exact = math.log(2) - dimension / 2 * math.log(2 * math.pi) + order / 2 * np.log(square / 2)
    assert sml_log_density(log_r, dimension) == pytest.approx(exact + np.log(kv(order, np.sqrt(2 * square))), abs=1e-6)


@pytest.mark.parametrize("dimension", [2, 6])
def test_delta_agrees_with_simulation(dimension: int) -> None:
    """Monte Carlo with fixed seed; the band is 4.9 standard errors (false alarms: 1e-6)."""
    generator = np.random.default_rng(3)
    draws, shift, level = 200_000, 0.7, 0.4
    noise = np.sqrt(generator.exponential(size=(draws, 1))) * generator.standard_normal((draws, dimension))
    moved = noise.copy()
    moved[:, 0] -= shift
    grid = np.linspace(-20, 6, 4001)
    density = sml_log_density(grid, dimension)
    near, far = (np.interp(np.log(np.linalg.norm(x, axis=1)), grid, density) for x in (noise, moved))
    values = np.maximum(0, -np.expm1(np.minimum(0, level - near + far)))
    error = 4.9 * values.std() / math.sqrt(draws)
    assert abs(sml_delta(level, shift, 1.0, dimension) - values.mean()) <= error


@settings(max_examples=5)
@given(st.floats(0.05, 3), st.floats(0.5, 20), st.integers(2, 200))
def test_the_total_variation_is_that_of_one_coordinate(shift: float, sigma: float, dimension: int) -> None:
    """At epsilon = 0 the best test looks at one coordinate in every dimension."""
    assert sml_delta(0.0, shift, sigma, dimension) == pytest.approx(sml_delta(0.0, shift, sigma, 1), rel=1e-3)
    assert sml_delta(0.0, shift, sigma) == pytest.approx(sml_delta(0.0, shift, sigma, 1), rel=1e-3)


def test_nothing_moves_costs_nothing() -> None:
    assert sml_delta(1.0, 0.0, 1.0) == 0


def test_the_published_bound_is_theorem_2_term_by_term() -> None:
    """The expectation summed over k for every out-degree, at a fine grid of orders."""
    sigma, q, M, T, delta, nodes = 6.0, 0.3, 2, 12, 1e-4, 15
    best = math.inf
    for alpha in 1 + np.geomspace(0.1, 30, 300):
        worst = 0.0
        for degree in range(1, nodes):
            k = np.arange(degree + 1)
            terms = alpha * np.exp(math.sqrt(2) * (alpha - 1) * k / sigma) / (2 * alpha - 1) + 0.5
            half = alpha * math.exp(math.sqrt(2) * (alpha - 1) / 2 / sigma) / (2 * alpha - 1) + 0.5
            mean = (1 - q) * binom.pmf(k, degree, min(q, q * M / degree)) @ terms + q * half
            worst = max(worst, T / (alpha - 1) * math.log(mean))
        conversion = math.log((alpha - 1) / alpha) - (math.log(delta) + math.log(alpha)) / (alpha - 1)
        best = min(best, worst + conversion)
    assert published_epsilon(sigma, q, M, T, delta, nodes) == pytest.approx(best, rel=1e-4)


def test_one_step_of_the_paper_s_run_already_exceeds_its_delta() -> None:
    nodes, sigma = 22_470, 12.7312
    q, delta = 4096 / nodes, nodes**-1.1
    assert published_epsilon(sigma, q, 1, 50, delta, nodes) == pytest.approx(2.0, abs=1e-3)
    assert q * sml_delta(2.0 - math.log(q), 0.5, sigma) > delta / 50  # a sampled release, by the standard lemma
    assert sml_delta(2.0, 1.0, sigma) * q * (1 - q) > 10 * delta  # k = 1 revealed


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("epsilon", (-1.0, 1.0, 1.0)),
        ("shift", (1.0, -1.0, 1.0)),
        ("sigma", (1.0, 1.0, 0.0)),
        ("dimension", (1.0, 1.0, 1.0, 0)),
    ],
)
def test_bad_arguments_are_one_sentence(name: str, arguments: tuple[float, ...]) -> None:
    with pytest.raises(InvalidParameter, match=f"{name} must be"):
        sml_delta(*arguments)  # type: ignore[arg-type]
