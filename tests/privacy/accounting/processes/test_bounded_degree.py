from __future__ import annotations

import math

import pytest
from scipy.stats import norm

from privet.errors import InvalidParameter
from privet.privacy.accounting.processes.bounded_degree import BoundedDegree


def gaussian_delta(epsilon: float, mu: float) -> float:
    """The hockey-stick divergence of N(mu, 1) from N(0, 1)."""
    return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


def test_without_sampling_it_is_gaussian() -> None:
    """At q = 1 every step is one Gaussian of known shift: four of them are one of twice the shift 3.5."""
    epsilon, mu = (
        BoundedDegree(rate=1.0, steps=4, num_nodes=100, max_degree=3).epsilon(40.0, 1e-4),
        2 * math.sqrt(4) * 3.5 / 40,
    )
    assert gaussian_delta(epsilon, mu) <= 1e-4 < gaussian_delta(0.98 * epsilon, mu)


def test_bad_degrees_in_one_sentence() -> None:
    with pytest.raises(InvalidParameter, match="max_degree must be"):
        BoundedDegree(rate=0.5, steps=4, num_nodes=100, max_degree=0)


def test_more_listeners_cost_more_and_degrees_are_public_if_read() -> None:
    few, many = (BoundedDegree(rate=0.2, steps=4, num_nodes=100, max_degree=most) for most in (2, 6))
    assert many.epsilon(20.0, 1e-4) > few.epsilon(20.0, 1e-4)
    assert len(few.public_facts) == 1
    assert "degree" in BoundedDegree(rate=0.2, steps=4, num_nodes=100, reads_degrees=True).public_facts[0]
