from __future__ import annotations

import math

import pytest
from scipy.stats import norm

from privet.errors import InvalidParameter
from privet.privacy.accounting.processes.noisy_aggregation import NoisyAggregation


def gaussian_delta(epsilon: float, mu: float) -> float:
    """The hockey-stick divergence of N(mu, 1) from N(0, 1)."""
    return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


def test_without_sampling_it_is_gaussian() -> None:
    """At q = 1 every step is one Gaussian of known shift: with the aggregation there are five."""
    epsilon, mu = (
        NoisyAggregation(rate=1.0, steps=4, num_nodes=100, max_degree=3).epsilon(5.0, 1e-4),
        math.sqrt(4 + 1) / 5,
    )
    assert gaussian_delta(epsilon, mu) <= 1e-4 < gaussian_delta(0.98 * epsilon, mu)


def test_bad_degrees_in_one_sentence() -> None:
    with pytest.raises(InvalidParameter, match="max_degree must be"):
        NoisyAggregation(rate=0.5, steps=4, num_nodes=100, max_degree=0)


def test_the_sensitivity_is_that_of_all_rows_together() -> None:
    """The node's own row moves by 4, and three others by 1 each."""
    assert NoisyAggregation(rate=0.2, steps=4, num_nodes=100, max_degree=3).sensitivity == math.sqrt(16 + 3)
