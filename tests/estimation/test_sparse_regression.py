"""Logistic regression on sparse rows and neighbours' means: its gradient, its fit, and whom it learns from."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from privet.estimation import sparse_regression as module
from privet.estimation.sparse_regression import SparseRegression


def world(seed: int = 0) -> tuple[sp.csr_array, sp.csr_array, np.ndarray]:
    """People whose class is told half by their own features and half by their only neighbour's."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(400, 5)).astype(np.float32)
    partner = np.arange(400) ^ 1
    mean = sp.csr_array((np.ones(400, dtype=np.float32), (np.arange(400), partner)), shape=(400, 400))
    return sp.csr_array(features), mean, (features[:, 0] > 0) + 2 * (features[partner, 1] > 0)


def test_both_blocks_are_learned() -> None:
    features, mean, labels = world()
    seen = np.arange(200)
    first, second = SparseRegression(features, mean, 0.1).log_probabilities(labels, 4, [seen, np.arange(300)])
    np.testing.assert_allclose(np.exp(first).sum(axis=1), 1)
    assert (first[200:].argmax(axis=1) == labels[200:]).mean() > 0.9
    assert (second[300:].argmax(axis=1) == labels[300:]).mean() > 0.9


def test_others_labels_are_not_read() -> None:
    features, mean, labels = world()
    hidden = np.where(np.arange(400) < 200, labels, -1)
    found = [
        next(SparseRegression(features, mean, 0.1).log_probabilities(y, 4, [np.arange(200)])) for y in (labels, hidden)
    ]
    np.testing.assert_array_equal(*found)


def test_a_fit_without_neighbours_is_the_penalised_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against Newton's steps in plain NumPy for two classes."""
    monkeypatch.setattr(module, "_STEPS", 500)
    rng = np.random.default_rng(1)
    x = rng.normal(size=(80, 3)).astype(np.float32)
    labels = (x[:, 0] + 0.5 * rng.normal(size=80) > 0).astype(np.int64)
    nobody = sp.csr_array((80, 80), dtype=np.float32)
    found = next(SparseRegression(sp.csr_array(x), nobody, 0.5).log_probabilities(labels, 2, [np.arange(80)]))
    rows, penalty = np.column_stack([x, np.ones(80)]).astype(np.float64), np.diag([0.25, 0.25, 0.25, 0.0])
    weights = np.zeros(4)  # of the difference of the two classes, whose weights are equal and opposite
    for _ in range(30):
        chance = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (chance - labels) + penalty @ weights
        weights -= np.linalg.solve((rows * (chance * (1 - chance))[:, None]).T @ rows + penalty, slope)
    np.testing.assert_allclose(np.exp(found[:, 1]), 1 / (1 + np.exp(-rows @ weights)), atol=2e-3)
