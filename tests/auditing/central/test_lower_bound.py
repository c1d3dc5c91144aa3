from __future__ import annotations

import math

import numpy as np
import pytest

from privet.auditing.central.lower_bound import epsilon_lower_bound, family_lower_bound
from privet.auditing.central.trade_off import NoiseFamily
from privet.errors import InvalidParameter
from privet.privacy.accounting.processes.poisson_sampling import PoissonSampling


def test_the_lower_bound_is_below_what_is_true() -> None:
    """Randomised response with epsilon = 1; fixed seeds, each bound fails with probability at most 5 %."""
    keep = math.e / (1 + math.e)
    bounds = []
    for seed in range(40):
        generator = np.random.default_rng(seed)
        worlds = [(generator.random(2000) < chance) + 0.0 for chance in (keep, 1 - keep)]
        bounds.append(epsilon_lower_bound(*worlds, 0.0))
    assert np.median(bounds) > 0.8
    assert sum(bound > 1 for bound in bounds) <= 7  # more than 7 of 40 at 5 %: 1e-3


def test_equal_worlds_show_nothing() -> None:
    generator = np.random.default_rng(0)
    assert epsilon_lower_bound(generator.normal(size=4000), generator.normal(size=4000), 1e-5) < 0.2


def test_both_directions_are_tried() -> None:
    """An outcome that only one of the worlds has: small ratios speak for the one without the target."""
    generator = np.random.default_rng(1)
    plain, often = generator.normal(size=4000), generator.random(4000) < 0.2
    assert epsilon_lower_bound(plain, np.where(often, -50.0, plain), 1e-5) > 1.5
    assert epsilon_lower_bound(np.where(often, 50.0, plain), plain, 1e-5) > 1.5


def test_a_bound_needs_runs() -> None:
    with pytest.raises(InvalidParameter, match="runs"):
        epsilon_lower_bound(np.zeros(10), np.zeros(10), 1e-5)


def test_the_bound_for_a_family_is_below_what_is_true_and_nearer_than_the_other() -> None:
    """One Gaussian release with mu = 1/2; fixed seeds, each bound fails with probability at most 5 %."""
    family, delta = NoiseFamily(PoissonSampling(rate=1.0, steps=1, num_nodes=1000), 0), 1e-5
    truth = family.epsilon(2.0, delta)
    bounds, others = [], []
    for seed in range(12):
        generator = np.random.default_rng(seed)
        worlds = generator.normal(0.5, 1.0, 6000), generator.normal(size=6000)
        bounds.append(family_lower_bound(*worlds, family, 2.0, delta))
        others.append(epsilon_lower_bound(*worlds, delta))
    assert sum(bound > truth for bound in bounds) <= 3  # more than 3 of 12 at 5 %: 2e-3
    assert np.median(bounds) > 0.75 * truth
    assert np.median(others) < 0.6 * truth


def test_equal_worlds_show_nothing_for_a_family_either() -> None:
    generator = np.random.default_rng(0)
    family = NoiseFamily(PoissonSampling(rate=1.0, steps=1, num_nodes=1000), 0)
    worlds = generator.normal(size=4000), generator.normal(size=4000)
    assert family_lower_bound(*worlds, family, 2.0, 1e-5) == 0.0
