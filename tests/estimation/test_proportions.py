"""Cluster proportions and their divergence against sums over the clusters' members."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import InvalidData
from privet.estimation.frequencies import SMALLEST_SHARE
from privet.estimation.proportions import LabelProportions
from privet.mechanisms import RandomizedResponse, SeededBits


@given(seed=st.integers(0, 10_000), private=st.booleans())
def test_proportions_and_loss_are_those_of_algorithm_1(seed: int, private: bool) -> None:
    rng = np.random.default_rng(seed)
    nodes, classes = 30, 3
    clusters = rng.integers(6, size=nodes)
    reported = rng.integers(-1, classes, size=nodes)
    reported[0] = 1
    response = RandomizedResponse(epsilon=1.0, classes=classes) if private else None
    inverse = np.linalg.inv(response.transition) if response else np.eye(classes)
    predicted = rng.dirichlet(np.ones(classes), size=nodes)
    expected, divergences = [], []
    for cluster in range(6):
        members = [v for v in range(nodes) if clusters[v] == cluster and reported[v] >= 0]
        if not members:
            continue
        share = np.maximum(np.mean([np.eye(classes)[reported[v]] for v in members], axis=0) @ inverse, SMALLEST_SHARE)
        share /= share.sum()
        found = predicted[members].mean(axis=0)
        expected.append(share)
        divergences.append((found * np.log(found / share)).sum())
    bags = LabelProportions.estimate(clusters, reported, classes, response)
    np.testing.assert_allclose(bags.proportions.numpy(), expected, atol=1e-5)
    loss = bags.loss(torch.from_numpy(predicted).float())
    assert float(loss) == pytest.approx(np.mean(divergences), abs=1e-4)


def test_the_gradient_moves_predictions_to_the_proportions_also_from_certainty() -> None:
    bags = LabelProportions.estimate(np.zeros(4, dtype=np.int64), np.array([0, 0, 0, 1]), classes=2)
    logits = torch.tensor([[200.0, 0.0]] * 4, requires_grad=True)  # probabilities of exactly 1 and 0
    loss = bags.loss(logits.softmax(1))
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(logits.grad).all()
    free = torch.zeros(4, 2, requires_grad=True)
    optimizer = torch.optim.Adam([free], lr=0.1)
    for _ in range(300):
        optimizer.zero_grad()
        bags.loss(free.softmax(1)).backward()
        optimizer.step()
    assert free.softmax(1).mean(0).tolist() == pytest.approx([0.75, 0.25], abs=0.01)


def test_proportions_of_private_labels_are_unbiased() -> None:
    # 20000 reports of classes 0.7 / 0.3 at epsilon 1: the standard error is at most 0.5 / (0.46 sqrt(20000)) = 0.0077,
    # and 0.04 is five of them (false alarm below 1e-6).
    truth = (np.arange(20_000) % 10 >= 7).astype(np.int64)
    response = RandomizedResponse(epsilon=1.0, classes=2)
    reported = response.perturb(truth, SeededBits(1)).symbols[:, 0].astype(np.int64)
    bags = LabelProportions.estimate(np.zeros(20_000, dtype=np.int64), reported, 2, response)
    assert bags.proportions[0].tolist() == pytest.approx([0.7, 0.3], abs=0.04)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidData, match=r"clusters must be one for each of 3 nodes, not shape \(2,\)"):
        LabelProportions.estimate(np.zeros(2, dtype=np.int64), np.zeros(3, dtype=np.int64), 2)
    with pytest.raises(InvalidData, match="reported class of at least one node"):
        LabelProportions.estimate(np.zeros(2, dtype=np.int64), np.full(2, -1), 2)
