from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import poisson

from privet.estimation import Homophily
from privet.estimation.friends.homophily import _GRID
from privet.mechanisms import Counts, SeededBits

RATES = np.array([[3.0, 0.5], [1.0, 2.0]])
EXPOSURE = np.array([[[0.5, 0.0], [0.0, 0.5]], [[0.6, 0.2], [0.1, 0.7]]])  # two groups; the second sees noisy classes


def test_the_likelihood_is_the_sum_over_sociability_and_counts() -> None:
    mechanism = Counts(epsilon=1.0, classes=2, cap=3)
    noise = mechanism.likelihood_table()
    model = Homophily(RATES, np.linspace(1, 2, len(_GRID)) / np.linspace(1, 2, len(_GRID)).sum())
    symbols = np.array(list(itertools.product(range(4), repeat=2)))
    for group in (0, 1):
        found = model.log_likelihood(symbols, np.full(len(symbols), group), EXPOSURE, noise)
        assert np.exp(found).sum(axis=0) == pytest.approx([1.0, 1.0])  # a distribution over reports for each class
        for row, own in itertools.product(range(len(symbols)), (0, 1)):
            slow = 0.0
            for sociability, weight in zip(_GRID, model.sociability, strict=True):
                means = sociability * RATES[own] @ EXPOSURE[group]
                parts = [
                    poisson.pmf(np.arange(60), mean) @ noise[np.minimum(np.arange(60), 3), v]
                    for mean, v in zip(means, symbols[row], strict=True)
                ]
                slow += weight * np.prod(parts)
            assert np.exp(found[row, own]) == pytest.approx(slow)


@pytest.mark.parametrize("known", [1.0, 0.2])
def test_rates_are_recovered_from_noisy_counts_of_people_of_known_and_unknown_class(known: float) -> None:
    rng = np.random.default_rng(0)
    people = 20_000
    mechanism = Counts(epsilon=2.0, classes=2)
    classes, groups = rng.integers(2, size=people), rng.integers(2, size=people)
    means = rng.gamma(4.0, 0.25, people)[:, None] * np.einsum("iz,izk->ik", RATES[classes], EXPOSURE[groups])
    symbols = mechanism.perturb(np.minimum(rng.poisson(means), mechanism.cap), SeededBits(0)).symbols
    log_prior = np.where(
        (rng.random(people) < known)[:, None], np.where(np.eye(2)[classes] > 0, 0.0, -700.0), np.log(0.5)
    )
    model = Homophily.fit(symbols, groups, EXPOSURE, mechanism.likelihood_table(), log_prior, iterations=200)
    # Sociability has mean 1 in truth; the model may put a factor into its grid instead.
    assert model.rates * (model.sociability @ _GRID) == pytest.approx(RATES, abs=0.25)


def test_the_spread_of_sociability_is_learnt() -> None:
    rng = np.random.default_rng(0)
    log_prior = np.full((4000, 2), np.log(0.5))
    spread = []
    for sociability in (np.ones(4000), rng.gamma(0.5, 2.0, 4000)):
        counts = np.minimum(rng.poisson(4 * sociability[:, None] * np.ones(2)), 32)
        model = Homophily.fit(counts, np.zeros(4000, dtype=int), EXPOSURE[:1], np.eye(33), log_prior)
        mean = model.sociability @ _GRID
        spread.append(model.sociability @ (_GRID / mean - 1) ** 2)
    assert spread[0] < 0.15
    assert spread[1] > 0.8


def test_few_people_leave_the_homophilous_assumption() -> None:
    symbols = np.array([[2, 0], [0, 2]])
    model = Homophily.fit(
        symbols, np.zeros(2, dtype=int), EXPOSURE[:1], np.eye(33), np.full((2, 2), np.log(0.5)), iterations=5
    )
    assert (np.diag(model.rates) > 2 * model.rates[[0, 1], [1, 0]]).all()
    assert model.sociability.sum() == pytest.approx(1.0)
