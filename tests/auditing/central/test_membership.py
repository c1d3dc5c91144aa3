from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.auditing.central.canary import CanaryGame
from privet.auditing.central.lower_bound import advantage, largest_advantage
from privet.errors import InvalidData
from privet.mechanisms import SeededBits
from privet.privacy.accounting.processes.heterogeneous_poisson import HeterogeneousPoisson


@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=20),
    st.lists(st.integers(-3, 3), min_size=1, max_size=20),
)
def test_the_advantage_is_the_best_over_all_thresholds(members: list[int], others: list[int]) -> None:
    a, b = np.array(members, dtype=float), np.array(others, dtype=float)
    rates = [((a > t).mean(), (b > t).mean()) for t in range(-4, 4)]
    assert advantage(a, b) == pytest.approx(max(0, *(hit - alarm for hit, alarm in rates[1:])))


def test_white_box_membership_stays_below_what_privacy_allows() -> None:
    process, delta = HeterogeneousPoisson(rate=0.3, steps=5, num_nodes=50), 1e-3
    worlds = CanaryGame(process, 2.0, "gaussian", 2).play(20_000, SeededBits(0))["full"]
    assert 0.1 < advantage(*worlds) < largest_advantage(process.epsilon(2.0, delta), delta)


def test_the_largest_advantage_is_attained_by_randomised_response() -> None:
    for epsilon in (0.0, 0.5, 3.0):
        assert largest_advantage(epsilon, 0.0) == pytest.approx((math.exp(epsilon) - 1) / (math.exp(epsilon) + 1))
    assert largest_advantage(1000.0, 0.1) <= 1


def test_an_attack_needs_scores() -> None:
    with pytest.raises(InvalidData, match="at least one"):
        advantage(np.zeros(0), np.ones(1))
