from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest
import scipy.sparse as sp

from privet.auditing import audit
from privet.errors import InvalidParameter
from privet.mechanisms import HDS, AdjacencyResponse, MultiBit, RandomizedResponse, SampledResponse
from privet.mechanisms.primitives.odds import odds

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

    with pytest.raises(ArithmeticError, match=r"sum to 0\.5, not to 1"):
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


def test_values_that_print_alike_are_told_apart() -> None:
    class Overspending(MultiBit):
        odds = cached_property(lambda self: odds(5 * self.share))

    broken = Overspending(epsilon=1.0, dimension=2, low=0.0, high=1.0)
    one, two = sp.csr_array([[0.0, 1.0]]), sp.csr_array([[1.0, 0.0]])
    assert repr(one) == repr(two)
    assert not audit(broken, pairs=[(one, two), (two, one)]).holds
    wide = MultiBit(epsilon=1.0, dimension=1500, low=0.0, high=1.0)
    changed = np.zeros(1500)
    changed[700] = 1.0
    assert audit(wide, pairs=[(np.zeros(1500), changed)]).epsilon == pytest.approx(1.0)


def test_many_dimensions_do_not_mean_many_pairs() -> None:
    result = audit(MultiBit(epsilon=1.0, dimension=30, low=0.0, high=1.0))
    assert result.holds
    assert result.num_pairs == 6


def test_an_absurd_claim_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="at most 1000"):
        audit(RESPONSE, replace(RESPONSE.guarantee(), epsilon=1e7))


def test_no_pairs_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="at least one pair"):
        audit(RESPONSE, pairs=[])
