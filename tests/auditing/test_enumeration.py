from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from privet.auditing import audit
from privet.errors import InvalidParameter
from privet.mechanisms import HDS, AdjacencyResponse, MultiBit, RandomizedResponse, SampledResponse

RESPONSE = RandomizedResponse(epsilon=1.0, classes=3)


def test_the_verdict_is_exact_around_the_true_figure() -> None:
    result = audit(RESPONSE)
    assert result.holds
    assert result.epsilon == pytest.approx(1.0, rel=1e-12)
    assert (result.num_reports, result.num_pairs) == (3, 6)
    just_below = replace(RESPONSE.guarantee(), epsilon=1.0 - 1e-12)
    assert not audit(RESPONSE, just_below).holds


def test_a_published_claim_is_broken() -> None:
    mechanism = SampledResponse(epsilon_per_feature=1.0, categories=(2,) * 4, sample=2)
    result = audit(mechanism, replace(mechanism.guarantee(), epsilon=mechanism.published_epsilon))
    assert not result.holds
    assert result.epsilon == pytest.approx(2.0)
    first, second = result.worst_pair
    assert all(a != b for a, b in zip(first, second, strict=True))


def test_impossible_reports_are_unbounded() -> None:
    class Deterministic(RandomizedResponse):
        def exact_distribution(self, value):
            return {value: (Fraction(1), Fraction(1))}

    result = audit(Deterministic(epsilon=1.0, classes=2))
    assert not result.holds
    assert result.epsilon == math.inf


def test_probabilities_must_sum_to_one() -> None:
    class Lossy(RandomizedResponse):
        def exact_distribution(self, value):
            return {0: (Fraction(1, 2), Fraction(1, 2))}

    with pytest.raises(ArithmeticError, match="must sum to 1"):
        audit(Lossy(epsilon=1.0, classes=2))


@pytest.mark.parametrize(
    "mechanism",
    [
        MultiBit(epsilon=1.0, dimension=4714, low=0.0, high=1.0, sample=9),
        HDS(epsilon=1.0, dimension=4, low=0.0, high=1.0, sample=4),
        AdjacencyResponse(epsilon=1.0, num_nodes=5000),
    ],
)
def test_domains_too_large_to_list_are_refused(mechanism) -> None:
    with pytest.raises(InvalidParameter, match="small enough to list"):
        audit(mechanism)


def test_no_pairs_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="at least one pair"):
        audit(RESPONSE, pairs=[])
