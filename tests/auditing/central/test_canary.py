"""The audit must break what is false, and must not break what is true."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, chisquare, kstest, laplace

from privet.auditing.central.audited_claim import PAPER_RUN
from privet.auditing.central.canary import CanaryAudit, CanaryGame, audit_process
from privet.auditing.central.lower_bound import epsilon_lower_bound
from privet.errors import InvalidParameter
from privet.mechanisms import SeededBits
from privet.privacy.accounting.losses import noise_multiplier_of
from privet.privacy.accounting.processes.bounded_degree import BoundedDegree
from privet.privacy.accounting.processes.heterogeneous_poisson import HeterogeneousPoisson


def made(rate: float, multiplier: float, steps: int, num_nodes: int = 100) -> HeterogeneousPoisson:
    return HeterogeneousPoisson(rate=rate, multiplier=multiplier, steps=steps, num_nodes=num_nodes)


def game(
    sigma: float, rate: float, multiplier: float, steps: int, noise: str = "gaussian", dimension: int = 32, **rest: int
) -> CanaryGame:
    return CanaryGame(made(rate, multiplier, steps), noise_multiplier_of(sigma), noise, dimension, **rest)


def test_the_published_claim_for_sml_noise_is_broken() -> None:
    """One full-batch step: far fewer releases than the paper's run, and the claim already fails."""
    found = audit_process(made(1.0, 0, 1, 1000), 4.0, "sml", delta=1e-5, runs=20_000, dimension=16)
    assert found.broken
    assert found.epsilon_lower > found.claim + 0.5
    assert found.projection_epsilon_lower <= found.claim  # which is what the paper's audit saw


def test_gaussian_noise_stays_below_its_accountant_and_comes_close() -> None:
    found = audit_process(made(0.5, 1, 3, 10), 4.0, delta=1e-2, runs=400_000)
    assert not found.broken
    assert 0.8 < found.closeness <= 1
    assert found.epsilon_lower == found.projection_epsilon_lower
    assert found.to_dict()["broken"] is False
    assert 0.1 < found.advantage < found.to_dict()["largest_advantage"]


def test_an_accountant_that_forgets_the_neighbours_is_caught() -> None:
    """What holds without neighbours is less than the attack shows for a node with one."""
    sigma, rate, steps, delta = 0.5, 0.5, 3, 1e-2
    wrong = made(rate, 0, steps).epsilon(noise_multiplier_of(sigma), delta)
    played = game(sigma, rate, 1, steps, "gaussian", 2).play(40_000, SeededBits(1))
    assert epsilon_lower_bound(*played["full"], delta) > wrong


@pytest.mark.parametrize(("degree", "multiplier"), [(1, 1.0), (3, 1.0), (2, 2.0)])
def test_coins_follow_the_law_of_the_accountant(degree: int, multiplier: float) -> None:
    """Chi-square of (C, shift) with fixed seed; false alarms: 1e-6."""
    rate, games = 0.3, 60_000
    central, shift = game(1.0, rate, multiplier, 1, degree=degree).coins(games, SeededBits(5))
    pick = min(1.0, multiplier / degree)
    observed, expected = [], []
    for c in range(degree + 1):
        chance = binom.pmf(c, degree, rate)
        law = {0.5: rate} | {k: (1 - rate) * binom.pmf(k, c, pick) for k in range(c + 1)}
        for value, probability in law.items():
            if probability > 0:
                observed.append(int(((central == c) & (shift == value)).sum()))
                expected.append(games * chance * probability)
    assert sum(observed) == games  # nothing that the accountant does not know of
    assert chisquare(observed, expected).pvalue > 1e-6


def test_noises_are_those_of_training() -> None:
    """One coordinate of SML noise is Laplace (Kolmogorov-Smirnov with fixed seed; false alarms: 1e-6)."""
    first, rest = game(2.0, 0.5, 1, 1, "sml", 8).noises(4000, SeededBits(2))
    assert kstest(first, laplace(scale=math.sqrt(2)).cdf).pvalue > 1e-6
    assert rest.mean() == pytest.approx(7 * 4, rel=0.15)
    first, rest = game(2.0, 0.5, 1, 1, "gaussian", 8).noises(4000, SeededBits(2))
    assert kstest(first / 2, "norm").pvalue > 1e-6


def test_likelihood_ratios_average_to_one_without_the_target() -> None:
    """E[ratio | without] = 1 for a ratio of densities (4.9 standard errors: false alarms 1e-6)."""
    for noise in ("gaussian", "sml"):
        for statistic, (_, without) in game(3.0, 0.4, 1, 1, noise, 4).play(20_000, SeededBits(3)).items():
            ratio = np.exp(without)
            assert abs(ratio.mean() - 1) < 4.9 * ratio.std() / math.sqrt(ratio.size) + 1e-3, statistic


def test_rounding_is_not_mistaken_for_a_leak() -> None:
    """The ratios of a Laplace coordinate are equal on half-lines up to rounding, which depends on what was added."""
    rounded = game(2.0, 1.0, 0, 1, "sml", 2)
    bounds = [epsilon_lower_bound(*rounded.play(1000, SeededBits(seed))["projection"], 0.0) for seed in range(10)]
    assert sum(bound > math.sqrt(2) * 0.5 / 2 + 1e-9 for bound in bounds) <= 4  # more than 4 of 10 at 5 %: 6e-5


def test_a_game_has_noise_a_dimension_and_a_process_that_it_can_play() -> None:
    with pytest.raises(InvalidParameter, match="dimension"):
        game(1.0, 0.5, 1, 1, dimension=1)
    with pytest.raises(InvalidParameter, match="noise_multiplier"):
        game(0.0, 0.5, 1, 1)
    with pytest.raises(InvalidParameter, match="bounded-degree"):
        CanaryGame(BoundedDegree(rate=0.5, steps=1, num_nodes=100), 1.0)


def test_a_result_is_plain() -> None:
    found = CanaryAudit(
        process=PAPER_RUN,
        noise="sml",
        noise_multiplier=24.0,
        claim=2.0,
        claimed_by="the paper",
        delta=1e-5,
        epsilon_lower=2.5,
        projection_epsilon_lower=0.4,
        confidence=0.95,
        runs=100,
        dimension=32,
    )
    assert found.broken
    assert found.to_dict()["closeness"] == 1.25
    assert found.to_dict()["sigma"] == 12.0
    assert found.to_dict()["steps"] == 50
