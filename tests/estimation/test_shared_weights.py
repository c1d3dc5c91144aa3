from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from privet.estimation import SharedWeights
from privet.mechanisms import RandomizedResponse


def world(people: int, scale: float, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two sources of evidence: true logits divided by ``scale``, and noise. Labels follow the true logits."""
    rng = np.random.default_rng(seed)
    logits = 2 * rng.normal(size=(people, 3)) + [0.0, 0.5, 1.0]
    labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    return np.stack([(logits - [0.0, 0.5, 1.0]) / scale, rng.normal(size=logits.shape)], axis=1), labels


def test_weights_and_offsets_are_found() -> None:
    evidence, labels = world(20_000, scale=4.0)
    found = SharedWeights.fit(evidence, np.eye(3)[labels], (1.0, 0.0), penalty=1.0)
    assert found.weights == pytest.approx([4.0, 0.0], abs=0.1)
    assert found.offsets - found.offsets[0] == pytest.approx([0.0, 0.5, 1.0], abs=0.1)
    assert np.allclose(found.logits(evidence)[7], found.weights @ evidence[7] + found.offsets)


def test_randomised_labels_are_seen_through() -> None:
    evidence, labels = world(40_000, scale=4.0)
    transition = RandomizedResponse(epsilon=1.0, classes=3).transition
    reported = (transition[labels].cumsum(axis=1) < np.random.default_rng(1).random(len(labels))[:, None]).sum(axis=1)
    found = SharedWeights.fit(evidence, transition.T[reported], (1.0, 0.0), penalty=1.0)
    assert found.weights == pytest.approx([4.0, 0.0], abs=0.4)
    naive = SharedWeights.fit(evidence, np.eye(3)[reported], (1.0, 0.0), penalty=1.0)
    assert naive.weights[0] < 2


def test_a_large_penalty_keeps_what_is_expected() -> None:
    evidence, labels = world(500, scale=4.0)
    found = SharedWeights.fit(evidence, np.eye(3)[labels], (1.0, 0.5), penalty=1e9)
    assert found.weights == pytest.approx([1.0, 0.5], abs=1e-3)


def test_cross_validation_chooses_the_penalty() -> None:
    evidence, labels = world(500, scale=4.0)
    right, penalty = SharedWeights.choose(evidence, np.eye(3)[labels], (1.0, 0.0), (1.0, 1e6), seed=0)
    assert penalty == 1.0
    assert right.weights[0] > 3
    calibrated, labels = world(60, scale=1.0)
    kept, penalty = SharedWeights.choose(calibrated, np.eye(3)[labels], (1.0, 0.0), (1e-9, 1e3), seed=0)
    assert penalty == 1e3
    assert kept.score(calibrated, np.eye(3)[labels]) < 0
