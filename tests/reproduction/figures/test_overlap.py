from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from privet.data import Graph
from privet.privacy.accounting import node_level
from privet.reproduction.figures.overlap import OverlappingHeterPoisson, overlap_epsilon, overlap_step
from privet.reproduction.papers.heterpoisson import OVERLAP
from privet.systems import HeterPoisson
from privet.systems.central._training_view import HeldGraph


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
    losses = overlap_step(sigma, q, M, 1e-9, degree, degree)
    for epsilon in (0.0, 0.3, 1.0):
        exact = hockey_sticks(sigma, q, degree, min(1.0, M / degree), epsilon)
        for bound, truth in zip(losses, exact, strict=True):
            assert truth - 1e-9 <= bound.delta(epsilon) <= truth + 2e-4


def test_a_bracket_holds_for_its_degrees() -> None:
    for low, high in ((2, 3), (4, 6), (4, 40)):
        whole = overlap_step(1.0, 0.2, 2.0, 1e-9, low, high)
        for degree in (low, (low + high) // 2, high):
            single = overlap_step(1.0, 0.2, 2.0, 1e-9, degree, degree)
            for bound, truth in zip(whole, single, strict=True):
                assert all(bound.delta(epsilon) >= truth.delta(epsilon) - 1e-9 for epsilon in (0.0, 0.5, 1.5))


def test_keeping_centres_costs_more() -> None:
    process = (2.0, 0.2, 1.0, 20, 1e-5, 200)
    assert overlap_epsilon(*process) > 1.02 * node_level.epsilon(*process)


def test_noise_is_calibrated_for_its_own_accountant(graph: Graph) -> None:
    plain = {"target_epsilon": 2.0, "batch_size": 60, "epochs": 2.0, "hidden_channels": 8, "multiplier": 1.0}
    kept, removed = OverlappingHeterPoisson(**plain), HeterPoisson(**plain)
    nodes = graph.num_nodes
    assert kept.noise_multiplier_for(nodes) > removed.noise_multiplier_for(nodes)
    assert kept.promise(graph).epsilon <= 2.0
    held = HeldGraph.of(graph, "test")
    assert kept.sampler(held).keep_central
    assert not removed.sampler(held).keep_central
    column = next(each for each in OVERLAP.columns(removed) if each.key == "overlap")
    assert 0.1 < column.measure(column.subject(removed), graph, 0) <= 1
