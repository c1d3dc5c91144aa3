"""Weights of cut geometric noise: the ratio in exact arithmetic, the same total for every number, and tightness."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from thorough import thorough

from privet.errors import InvalidParameter
from privet.mechanisms.primitives.bits import WORD_RESOLUTION
from privet.mechanisms.primitives.geometric import MOST_CAP, GeometricWeights, geometric_weights
from privet.mechanisms.primitives.odds import exp_enclosure

LEAST, MOST = 2.0**-20, 29.0


def made(epsilon: float, cap: int) -> GeometricWeights:
    return geometric_weights(Fraction(epsilon), cap)


def check_bound(weights: GeometricWeights, epsilon: float, cap: int) -> None:
    """Every report of every two numbers that differ by one, in rational arithmetic."""
    factor = exp_enclosure(Fraction(epsilon))[0]
    rows = [weights.row(number) for number in range(cap + 1)]
    assert {sum(row) for row in rows} == {weights.total}
    assert weights.total <= WORD_RESOLUTION
    for one, other in itertools.pairwise(rows):
        for left, right in zip(one, other, strict=True):
            assert min(left, right) >= 1
            assert max(left, right) <= factor * min(left, right)


@pytest.mark.parametrize("epsilon", [LEAST, 0.01, 0.5, 1.0, 2.5, 8.0, 20.0, MOST])
@pytest.mark.parametrize("cap", [1, 2, 8, 32, 100])
def test_neighbouring_numbers_keep_the_bound_and_the_total(epsilon: float, cap: int) -> None:
    check_bound(made(epsilon, cap), epsilon, cap)


@thorough
@given(epsilon=st.floats(LEAST, MOST), cap=st.integers(1, 60))
def test_any_budget_and_cap_keep_the_bound(epsilon: float, cap: int) -> None:
    check_bound(made(epsilon, cap), epsilon, cap)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 2.5, 8.0, 20.0])
@pytest.mark.parametrize("cap", [1, 2, 8, 32, MOST_CAP])
def test_the_weights_are_those_of_the_geometric_distribution(epsilon: float, cap: int) -> None:
    """Up to the far tail, where weights may be equal: it adds less than 1e-9 to any probability."""
    weights, ratio = made(epsilon, cap), math.exp(-epsilon)
    assert weights.total > 0.9 * WORD_RESOLUTION
    for distance in range(cap):
        ideal = (1 - ratio) / (1 + ratio) * ratio**distance
        assert weights.inner[distance] / weights.total == pytest.approx(ideal, rel=1e-5, abs=1e-9)
        assert weights.ends[distance] / weights.total == pytest.approx(
            ratio**distance / (1 + ratio), rel=1e-5, abs=1e-9
        )
    assert math.log(Fraction(weights.ends[0], weights.ends[1])) == pytest.approx(epsilon, rel=1e-5)


def test_no_larger_weights_would_fit() -> None:
    """Weights of one step more in the far tail would sum to more than 2^53."""
    assert made(1.0, 8).total > WORD_RESOLUTION - 2**16


@pytest.mark.parametrize("epsilon", [0.9 * LEAST, 1.1 * MOST])
def test_a_budget_beyond_finite_precision_is_refused(epsilon: float) -> None:
    with pytest.raises(InvalidParameter, match=r"epsilon must be from 9.5e-07 to 29 \(finite"):
        made(epsilon, 8)
