"""Bounds on right guesses: exact for randomised response, equal to a linear program, never too small."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import expit
from scipy.stats import binom

from privet.auditing.central.guesses import (
    chance_under_budget,
    chance_under_curve,
    is_rarer_than,
    largest_refuted_epsilon,
)
from privet.auditing.central.trade_off import TradeOff
from privet.errors import InvalidParameter


def by_linear_program(canaries: int, guesses: int, correct: int, claim: TradeOff) -> float:
    """The largest probability of so many right guesses that all inequalities of the theorem leave."""
    right = np.arange(guesses + 1)
    slopes, heights, _ = claim._lines
    rows, limits = [], []
    for least in range(1, guesses + 1):
        for slope, height in zip(slopes, heights, strict=True):
            rows.append(slope * (right >= least) * right - (right >= least - 1) * (guesses - right))
            limits.append(height * canaries)
    aim = -(right >= correct).astype(float)
    found = linprog(aim, rows, limits, np.ones((1, guesses + 1)), [1.0], bounds=(0, 1), method="highs")
    return float(-found.fun)


@pytest.mark.parametrize(("canaries", "guesses", "correct"), [(20, 20, 15), (40, 10, 9), (40, 10, 10), (100, 12, 11)])
@pytest.mark.parametrize("claim", ["approximate", "pure", "gaussian"])
def test_the_recursion_solves_the_linear_program(canaries: int, guesses: int, correct: int, claim: str) -> None:
    """Assuming less probability than the program allows must lead to no contradiction, and more must."""
    gaussian = TradeOff.gaussian(1.0)
    curve = {
        "approximate": TradeOff.approximate(1.0, 1e-3),
        "pure": TradeOff.approximate(0.5, 0.0),
        "gaussian": TradeOff(gaussian.epsilons[::15], gaussian.deltas[::15]),
    }[claim]
    most = by_linear_program(canaries, guesses, correct, curve)
    assert chance_under_curve(canaries, guesses, correct, curve) == pytest.approx(most, rel=1e-6)
    assert not is_rarer_than(most * 0.999, canaries, guesses, correct, curve)


def test_the_theorem_without_delta_is_randomised_response() -> None:
    assert chance_under_budget(50, 30, 25, 1.0, 0.0) == pytest.approx(binom.sf(24, 30, expit(1.0)))


@pytest.mark.parametrize("bound", [chance_under_budget, None])
def test_no_bound_is_below_the_truth_for_a_mechanism_that_gives_everything_away_sometimes(bound: object) -> None:
    """With probability delta all coins are published, else randomised response: (epsilon, delta)-private."""
    epsilon, delta, canaries = 0.5, 0.02, 40
    for guesses, correct in ((40, 30), (40, 40), (10, 10)):
        truth = delta + (1 - delta) * float(binom.sf(correct - 1, guesses, expit(epsilon)))
        if bound is None:
            assert chance_under_curve(canaries, guesses, correct, TradeOff.approximate(epsilon, delta)) >= truth
        else:
            assert chance_under_budget(canaries, guesses, correct, epsilon, delta) >= truth


@pytest.mark.parametrize("by_curve", [True, False])
def test_the_lower_bound_is_below_the_truth_and_near_it_for_randomised_response(by_curve: bool) -> None:
    """epsilon = 1, all coins guessed: each bound fails with probability at most 5 %, more than 12 of 100 with 3e-3."""
    generator, canaries = np.random.default_rng(5), 2000
    correct = generator.binomial(canaries, expit(1.0), 100)
    bounds = [largest_refuted_epsilon(canaries, canaries, int(c), 0.0, 0.05, by_curve=by_curve) for c in correct]
    assert sum(bound > 1 for bound in bounds) <= 12
    assert np.median(bounds) > 0.87


def test_more_than_chance_is_needed() -> None:
    assert largest_refuted_epsilon(1000, 100, 50, 1e-5, 0.05) == 0.0


def test_counts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="guesses"):
        chance_under_budget(10, 11, 5, 1.0, 0.0)
