"""Noisy degrees: the exact audit, the program against its stated distribution, and the errors."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from privet.auditing import audit
from privet.errors import InvalidData, InvalidParameter, InvalidReports
from privet.mechanisms import DegreeResponse, Reports, SeededBits
from privet.privacy import Unit


def small(epsilon: float = 1.01) -> DegreeResponse:
    return DegreeResponse(epsilon=epsilon, num_nodes=5, steps=4)


@pytest.mark.parametrize("epsilon", [0.34, 1.01, 1.9])
def test_the_likelihood_ratio_is_bounded_exactly(epsilon: float) -> None:
    assert audit(small(epsilon), draws=0).holds


def test_an_understated_epsilon_is_found() -> None:
    mechanism = small(4 / 3 * (1 + 1e-9))  # a scale of 3 grid steps, just within the budget
    claim = mechanism.guarantee()
    assert mechanism.scale == 3
    assert not audit(mechanism, replace(claim, epsilon=0.99 * claim.epsilon), draws=0).holds


def test_the_program_matches_its_stated_distribution() -> None:
    """Chi-square with a fixed seed; another seed would fail with a chance of 1e-6."""
    mechanism, times = small(), 20_000
    reports = mechanism.perturb(np.full(times, 3), SeededBits(1))
    counts = Counter(mechanism.report_key(reports, row) for row in range(times))
    stated = {key: float(sum(bounds)) / 2 for key, bounds in mechanism.exact_distribution(3).items()}
    assert sum(stated.values()) == pytest.approx(1)
    common = [key for key, chance in stated.items() if chance * times >= 10]
    rest = times - sum(counts[key] for key in common)
    expected = np.array([stated[key] for key in common] + [1 - sum(stated[key] for key in common)]) * times
    assert stats.chisquare([*(counts[key] for key in common), rest], expected).pvalue > 1e-6


def test_the_likelihood_is_that_of_the_distribution() -> None:
    mechanism = small()
    stated = mechanism.exact_distribution(2)
    reports = Reports(1, np.array(list(stated))[:, None])
    found = mechanism.log_likelihood(reports, np.full(len(stated), 2))
    assert np.allclose(np.exp(found), [float(sum(bounds)) / 2 for bounds in stated.values()])


def test_estimates_are_unbiased_with_the_stated_variance() -> None:
    """Both within 5.5 standard errors: a chance below 1e-7 to fail for another seed."""
    mechanism, times = DegreeResponse(epsilon=0.7, num_nodes=100), 40_000
    estimates = mechanism.estimate(mechanism.perturb(np.full(times, 7), SeededBits(2))).dense()[:, 0]
    variance = mechanism.variance(np.full(1, 7))[0, 0]
    assert abs(estimates.mean() - 7) <= 5.5 * np.sqrt(variance / times)
    squares = (estimates - 7) ** 2
    assert abs(squares.mean() - variance) <= 5.5 * squares.std() / np.sqrt(times)


def test_the_guarantee_is_of_one_bit_and_says_what_a_relationship_costs() -> None:
    both = DegreeResponse(epsilon=0.5, num_nodes=10).guarantee()
    once = DegreeResponse(epsilon=0.5, num_nodes=10, one_sided=True).guarantee()
    assert both.unit == once.unit == Unit.NEIGHBOUR_BIT
    assert both.epsilon == once.epsilon == 0.5
    assert both.relationship_epsilon == once.relationship_epsilon == 1.0
    assert "costs an epsilon of 1;" in both.unprotected[1]


def test_bad_input_is_named() -> None:
    with pytest.raises(InvalidData, match=r"from 0 to 4.*in row 1") as refusal:
        small().perturb(np.array([0, 5]), SeededBits(0))
    assert "5" not in str(refusal.value)  # a refusal does not tell the private number
    with pytest.raises(InvalidData, match="vector of integers"):
        small().perturb(np.array([0.5]), SeededBits(0))
    with pytest.raises(InvalidReports, match="report in row 1"):
        small().estimate(Reports(1, np.array([[0], [10**6]])))
    with pytest.raises(InvalidParameter, match="finite precision"):
        DegreeResponse(epsilon=300.0, num_nodes=10)
