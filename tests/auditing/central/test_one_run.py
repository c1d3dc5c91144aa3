"""Bounds from one run stay below what is true, and find what is broken."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import norm

from privet.auditing.central.graph_canaries import Sightings
from privet.auditing.central.one_run import GuessRule, audit_in_one_run, bounds_of
from privet.auditing.central.trade_off import NoiseFamily
from privet.errors import InvalidParameter
from privet.privacy.accounting.processes.heterogeneous_poisson import HeterogeneousPoisson
from privet.privacy.accounting.processes.poisson_sampling import PoissonSampling

FULL = PoissonSampling(rate=1.0, steps=1, num_nodes=1000)  # one Gaussian release, mu = 1 / noise multiplier


def gaussian_sightings(mu: float, canaries: int, generator: np.random.Generator) -> Sightings:
    coins = generator.random(canaries) < 0.5
    return Sightings(coins, coins * mu + generator.normal(size=canaries))


def gaussian_epsilon(mu: float, delta: float) -> float:
    low, high = 0.0, 50.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        excess = ndtr(mu / 2 - middle / mu) - np.exp(middle + norm.logcdf(-middle / mu - mu / 2))
        low, high = (middle, high) if excess > delta else (low, middle)
    return high


def test_bounds_stay_below_the_truth_of_the_gaussian_mechanism_and_come_near() -> None:
    """mu = 1: each bound fails with probability at most 5 %, more than 5 of 25 with 1e-3."""
    generator, delta = np.random.default_rng(3), 1e-5
    truth = gaussian_epsilon(1.0, delta)
    family = NoiseFamily(FULL, 0)
    found = [bounds_of(gaussian_sightings(1.0, 5000, generator), delta, family=family) for _ in range(25)]
    for name in ("epsilon_lower", "steinke_epsilon_lower", "family_epsilon_lower"):
        assert sum(getattr(each, name) > truth for each in found) <= 5
    assert np.median([each.epsilon_lower for each in found]) > 0.35 * truth
    assert np.median([each.family_epsilon_lower or 0.0 for each in found]) > 0.5 * truth


def test_bounds_hold_for_a_mechanism_that_fails_for_everybody_at_once() -> None:
    """With probability 4 % all coins are published, else nothing: (0, 0.04)-private, and not (0, 0.001)-private."""
    generator = np.random.default_rng(0)
    wrong = caught = 0
    for _ in range(300):
        coins = generator.random(400) < 0.5
        fails = generator.random() < 0.04
        seen = Sightings(coins, coins + 0.0 if fails else generator.random(400))
        wrong += bounds_of(seen, 0.04).epsilon_lower > 0
        caught += fails and bounds_of(seen, 0.0).epsilon_lower > 3
    assert wrong <= 300 * 0.05 + 4.9 * np.sqrt(300 * 0.05)  # at most 5 % are; false alarms 1e-6
    assert caught > 0


def test_true_noise_holds_in_one_run() -> None:
    process = HeterogeneousPoisson(rate=0.5, multiplier=1, steps=3, num_nodes=10)
    found = audit_in_one_run(process, 4.0, delta=1e-5, canaries=20_000)
    assert not found.broken
    assert 0.3 < found.closeness < 1
    assert found.epsilon_lower < (found.bounds.family_epsilon_lower or 0.0) < found.claim
    document = json.loads(json.dumps(found.to_dict()))
    assert (document["audit"], document["runs"], document["canaries"]) == ("one-run", 1, 20_000)


def test_the_published_claim_for_sml_noise_breaks_in_few_runs() -> None:
    process = HeterogeneousPoisson(rate=1.0, multiplier=0, steps=1, num_nodes=1000)
    found = audit_in_one_run(process, 4.0, "sml", delta=1e-5, runs=40, canaries=500)
    assert found.broken
    assert found.bounds.family_epsilon_lower is None
    assert not audit_in_one_run(process, 4.0, delta=1e-5, runs=40, canaries=500).broken


def test_rules_count_guesses_on_both_sides() -> None:
    seen = Sightings(np.array([True, False, True, False]), np.array([3.0, 0.0, 2.0, 1.0]))
    assert GuessRule(1.0, True).tally(seen) == (4, 4)
    assert GuessRule(0.5, False).tally(seen) == (2, 2)
    assert GuessRule(0.75, False).tally(seen) == (3, 2)


def test_an_audit_needs_a_run_and_canaries_to_guess() -> None:
    with pytest.raises(InvalidParameter, match="runs"):
        audit_in_one_run(FULL, 2.0, runs=0)
    with pytest.raises(InvalidParameter, match="canaries"):
        audit_in_one_run(FULL, 2.0, canaries=2)
