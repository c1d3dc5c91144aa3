"""Bets that may be settled at any time refute true claims as rarely as they say, and false ones soon."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from privet.auditing.central.graph_canaries import Sightings
from privet.auditing.central.sequential import Betting
from privet.errors import InvalidParameter

CANARIES = 64


def response(epsilon: float, delta: float, generator: np.random.Generator) -> Sightings:
    """Randomised response that publishes all coins with probability delta: the worst that the claim allows."""
    coins = generator.random(CANARIES) < 0.5
    told = generator.random(CANARIES) < (1.0 if generator.random() < delta else expit(epsilon))
    return Sightings(coins, np.where(told, coins, ~coins) + 1e-3 * generator.random(CANARIES))


def test_a_true_claim_is_ever_refuted_with_the_stated_probability_only() -> None:
    """100 audits that look after each of 50 runs; at most 20 % err, more than 41 of 100 with 1e-6."""
    generator = np.random.default_rng(1)
    alarms = 0
    for _ in range(100):
        betting = Betting(CANARIES, 1.0, 0.01, error=0.2)
        while betting.runs < 50 and not betting.refuted:
            betting.see(response(1.0, 0.01, generator))
        alarms += betting.refuted
    assert alarms <= 41


def test_a_false_claim_is_refuted_soon_and_the_bound_lies_between() -> None:
    generator = np.random.default_rng(2)
    betting = Betting(CANARIES, 1.0, 0.0)
    while betting.runs < 400 and not betting.refuted:
        betting.see(response(2.5, 0.0, generator))
    assert betting.refuted
    assert betting.runs < 100
    assert 1.0 <= betting.epsilon_lower() < 2.5


def test_the_bound_at_the_time_of_stopping_is_below_the_truth() -> None:
    """The worst time to stop is when the bound is largest; fixed seeds, each bound fails with at most 5 %."""
    failed = 0
    for seed in range(20):
        generator, betting = np.random.default_rng(seed), Betting(CANARIES, 0.5, 0.0)
        while betting.runs < 30 and not betting.refuted:
            betting.see(response(1.0, 0.0, generator))
        failed += betting.epsilon_lower() > 1.0
    assert failed <= 5  # more than 5 of 20 at 5 %: 3e-4


def test_bets_need_canaries() -> None:
    with pytest.raises(InvalidParameter, match="canaries"):
        Betting(5, 1.0, 1e-5)
