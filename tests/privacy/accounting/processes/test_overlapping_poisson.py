from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from privet.privacy.accounting.processes.heterogeneous_poisson import HeterogeneousPoisson
from privet.privacy.accounting.processes.overlapping_poisson import OverlappingPoisson
from privet.privacy.accounting.steps import kept_step


def hockey_sticks(sigma: float, q: float, degree: int, p: float, epsilon: float) -> tuple[float, float]:
    """Both divergences of one step by numerical integration, with the number of central neighbours revealed."""
    x = np.linspace(-12 * sigma, degree + 0.5 + 12 * sigma, 60_001)
    alone, forward, backward = norm.pdf(x, 0, sigma), 0.0, 0.0
    for central in range(degree + 1):
        mixture = np.zeros_like(x)
        for picked, own in itertools.product(range(central + 1), (0, 1)):
            weight = binom.pmf(picked, central, p) * (q if own else 1 - q)
            mixture += weight * norm.pdf(x, picked + own / 2, sigma)
        chance = binom.pmf(central, degree, q)
        forward += chance * np.trapezoid(np.maximum(mixture - math.exp(epsilon) * alone, 0), x)
        backward += chance * np.trapezoid(np.maximum(alone - math.exp(epsilon) * mixture, 0), x)
    return forward, backward


@pytest.mark.parametrize(("sigma", "q", "degree", "M"), [(1.0, 0.3, 1, 1.0), (0.8, 0.2, 3, 2.0), (2.0, 0.5, 4, 1.0)])
def test_a_step_dominates_what_happens_and_hardly_more(sigma: float, q: float, degree: int, M: float) -> None:
    losses = kept_step(sigma, q, M, 1e-9, degree, degree)
    for epsilon in (0.0, 0.3, 1.0):
        exact = hockey_sticks(sigma, q, degree, min(1.0, M / degree), epsilon)
        for bound, truth in zip(losses, exact, strict=True):
            assert truth - 1e-9 <= bound.delta(epsilon) <= truth + 2e-4


def test_a_bracket_holds_for_its_degrees() -> None:
    for low, high in ((2, 3), (4, 6), (4, 40)):
        whole = kept_step(1.0, 0.2, 2.0, 1e-9, low, high)
        for degree in (low, (low + high) // 2, high):
            single = kept_step(1.0, 0.2, 2.0, 1e-9, degree, degree)
            for bound, truth in zip(whole, single, strict=True):
                assert all(bound.delta(epsilon) >= truth.delta(epsilon) - 1e-9 for epsilon in (0.0, 0.5, 1.5))


def test_keeping_centres_costs_more() -> None:
    common = {"rate": 0.2, "multiplier": 1.0, "steps": 20, "num_nodes": 200}
    kept, removed = (kind(**common).epsilon(4.0, 1e-5) for kind in (OverlappingPoisson, HeterogeneousPoisson))
    assert kept > 1.02 * removed


def test_the_paper_s_theorem_is_about_another_sampler() -> None:
    process = OverlappingPoisson(rate=0.2, steps=2, num_nodes=20)
    assert process.published_epsilon(4.0, 1e-3) is None
    assert process.canary_multiplier is None
    assert process.comparisons(4.0, 1e-3) == ()
