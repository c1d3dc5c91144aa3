from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.auditing.canary import CanaryGame
from privet.auditing.membership import (
    confidences_of,
    largest_advantage,
    loss_threshold,
    membership,
    shadow_attack,
)
from privet.data import social_graph
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import SeededBits
from privet.privacy.accounting import node_level
from privet.systems.central.smoothed_mlp import PrivateMLP


@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=20),
    st.lists(st.integers(-3, 3), min_size=1, max_size=20),
)
def test_rates_are_those_of_all_pairs_and_thresholds(members: list[int], others: list[int]) -> None:
    a, b = np.array(members, dtype=float), np.array(others, dtype=float)
    found = membership(a, b, low_fpr=0.1)
    wins = (a[:, None] > b).mean() + (a[:, None] == b).mean() / 2
    rates = [((a > t).mean(), (b > t).mean()) for t in range(-4, 4)]
    assert found.auc == pytest.approx(wins)
    assert found.advantage == pytest.approx(max(0, *(hit - alarm for hit, alarm in rates[1:])))
    assert found.tpr_at_low_fpr == pytest.approx(max(hit for hit, alarm in rates[1:] if alarm <= 0.1))


def test_white_box_membership_stays_below_what_privacy_allows() -> None:
    sigma, rate, steps, delta = 1.0, 0.3, 5, 1e-3
    worlds = CanaryGame(sigma, rate, 1, steps, "gaussian", 2).play(20_000, SeededBits(0))["full"]
    allowed = largest_advantage(node_level.epsilon(sigma, rate, 1, steps, delta, 50), delta)
    found = membership(*worlds)
    assert 0.1 < found.advantage < allowed


def test_the_largest_advantage_is_attained_by_randomised_response() -> None:
    for epsilon in (0.0, 0.5, 3.0):
        assert largest_advantage(epsilon, 0.0) == pytest.approx((math.exp(epsilon) - 1) / (math.exp(epsilon) + 1))
    assert largest_advantage(1000.0, 0.1) <= 1


def test_shadows_find_what_memorises_and_not_what_does_not() -> None:
    hardness = np.random.default_rng(0).normal(size=400)

    def remembers(strength: float):
        def train(mask: np.ndarray, seed: int) -> np.ndarray:
            noise = np.random.default_rng(seed).normal(scale=0.3, size=mask.size)
            return 1 / (1 + np.exp(-(2 * hardness + strength * mask + noise)))

        return train

    assert shadow_attack(remembers(1.5), 400, seed=3).auc > 0.95
    assert loss_threshold(remembers(1.5)(np.arange(400) < 200, 0), np.arange(400) < 200).auc < 0.85  # hardness hides it
    assert abs(shadow_attack(remembers(0.0), 400, seed=3).auc - 0.5) < 0.12  # 4 standard errors


def test_a_released_model_is_asked_about_every_node() -> None:
    """Without noise the model betrays its members; with much it does not."""
    graph = social_graph(120, classes=3, features=60, feature_signal=0.1, seed=0)
    loud = {"batch_size": 60, "epochs": 30, "hidden_channels": 32}
    exposed = shadow_attack(confidences_of(PrivateMLP(noise_multiplier=0.0, **loud), graph), 120, shadows=6)
    hidden = shadow_attack(confidences_of(PrivateMLP(noise_multiplier=50.0, **loud), graph), 120, shadows=6)
    assert exposed.auc > 0.75
    assert abs(hidden.auc - 0.5) < 0.22  # 4 standard errors


def test_bad_attacks_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="shadows"):
        shadow_attack(lambda mask, seed: mask + 0.0, 10, shadows=2)
    with pytest.raises(InvalidData, match="members"):
        membership(np.array([]), np.array([1.0]))
