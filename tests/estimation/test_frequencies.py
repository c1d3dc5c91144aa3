"""Neighbourhood frequencies against the papers' algorithms written out node by node."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.errors import InvalidData
from privet.estimation.frequencies import (
    SMALLEST_SHARE,
    cross_fitted_shares,
    estimated_shares,
    reconstructed_features,
    reconstructed_labels,
)
from privet.estimation.labels import propagated_reports
from privet.graph import mean_operator
from privet.mechanisms import RandomizedResponse, SampledResponse, SeededBits


def random_graph(nodes: int, rng: np.random.Generator) -> sp.csr_array:
    upper = np.triu(rng.random((nodes, nodes)) < 0.3, 1)
    return sp.csr_array((upper | upper.T).astype(np.float64))


def averaged(values: np.ndarray, adjacency: sp.csr_array, hops: int) -> np.ndarray:
    """Lines 4 to 8 of Algorithms 2 and 3: a mean that includes the node itself, hop by hop and node by node."""
    dense = adjacency.toarray()
    for _ in range(hops):
        values = np.stack([values[[v, *np.flatnonzero(dense[v])]].mean(axis=0) for v in range(len(dense))])
    return values


def algorithm_2(mechanism: SampledResponse, codes: np.ndarray, adjacency: sp.csr_array, hops: int) -> list[np.ndarray]:
    """The estimated shares of each feature as the paper prints them, for reports of all features."""
    m, d = mechanism.sample, mechanism.dimension
    result = []
    for i, count in enumerate(mechanism.categories):
        observed = averaged(np.eye(count)[codes[:, i]], adjacency, hops)
        p, q = mechanism.keep[i], mechanism.flip[i]
        result.append(observed * d / (m * (p - q)) + (m - d - m * count * q) / (m * count * (p - q)))
    return result


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), hops=st.integers(0, 4), sample=st.integers(1, 4))
def test_features_are_those_of_algorithm_2(seed: int, hops: int, sample: int) -> None:
    rng = np.random.default_rng(seed)
    categories = (2, 3, 2, 4)
    adjacency = random_graph(9, rng)
    mechanism = SampledResponse(epsilon_per_feature=1.0, categories=categories, sample=sample)
    reports = mechanism.perturb(rng.integers(categories, size=(9, 4)), SeededBits(seed))
    shares = algorithm_2(mechanism, reports.symbols.astype(np.int64), adjacency, hops)
    operator = mean_operator(adjacency, self_loops=True, dtype=torch.float32)
    found = reconstructed_features(mechanism.estimate(reports), categories, operator, hops).numpy()
    assert found.shape == (9, 1 + 3 + 1 + 4)
    np.testing.assert_allclose(found[:, 0], shares[0][:, 1], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found[:, 4], shares[2][:, 1], rtol=1e-4, atol=1e-4)
    for block, expected in ((found[:, 1:4], shares[1]), (found[:, 5:], shares[3])):
        assert set(np.unique(block)) <= {0.0, 1.0}
        assert (block.sum(axis=1) == 1).all()
        chosen = expected[np.arange(9), block.argmax(axis=1)]
        np.testing.assert_allclose(chosen, expected.max(axis=1), rtol=1e-4, atol=1e-4)  # ties may go either way


def test_reconstruction_finds_the_truth_of_a_homophilous_graph() -> None:
    # Two cliques of 400 with opposite values; the standard error of a clique's share is at most
    # 1 / (rate gap sqrt(n)) = 1 / (0.5 * 0.46 * 20) = 0.22, so 1.1 is five errors away (false alarm below 1e-5).
    cliques = sp.csr_array(np.kron(np.eye(2), np.ones((400, 400))) - np.eye(800))
    codes = np.repeat([[0, 1], [1, 0]], 400, axis=0)
    mechanism = SampledResponse(epsilon_per_feature=1.0, categories=(2, 2), sample=1)
    estimate = mechanism.estimate(mechanism.perturb(codes, SeededBits(3)))
    found = reconstructed_features(estimate, (2, 2), mean_operator(cliques, self_loops=True), 1).numpy()
    assert np.abs(found - codes).max() < 1.1
    assert ((found > 0.5) == codes).all()


def test_an_estimate_of_another_width_is_refused() -> None:
    mechanism = SampledResponse(epsilon_per_feature=1.0, categories=(2, 2), sample=1)
    estimate = mechanism.estimate(mechanism.perturb(np.zeros((3, 2)), SeededBits(0)))
    operator = mean_operator(sp.csr_array((3, 3)), self_loops=True)
    with pytest.raises(InvalidData, match=r"must be 5 columns wide, .* not 4"):
        reconstructed_features(estimate, (2, 3), operator, 1)


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), hops=st.integers(0, 4), classes=st.integers(2, 5))
def test_labels_are_those_of_algorithm_3(seed: int, hops: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    adjacency = random_graph(8, rng)
    reported = rng.integers(-1, classes, size=8)
    response = RandomizedResponse(epsilon=1.0, classes=classes)
    rows = np.where((reported >= 0)[:, None], np.eye(classes)[reported], 0.0)
    observed = averaged(rows, adjacency, hops)
    corrected = observed @ np.linalg.inv(response.transition)
    operator = mean_operator(adjacency, self_loops=True)
    propagated = propagated_reports(torch.from_numpy(reported), classes, operator, hops)
    found = reconstructed_labels(propagated).numpy()
    assert (found.sum(axis=1) == 1).all()
    chosen = corrected[np.arange(8), found.argmax(axis=1)]
    np.testing.assert_allclose(chosen, corrected.max(axis=1), atol=1e-5)

    shares = estimated_shares(propagated, response).numpy()
    total = observed.sum(axis=1, keepdims=True)
    expected = np.divide(observed, total, out=np.full_like(observed, 1 / classes), where=total > 0)
    expected = np.maximum(expected @ np.linalg.inv(response.transition), SMALLEST_SHARE)
    np.testing.assert_allclose(shares, expected / expected.sum(axis=1, keepdims=True), atol=1e-5)


def test_public_shares_are_only_scaled() -> None:
    found = estimated_shares(torch.tensor([[3.0, 1.0], [0.0, 2.0]]), None)
    assert found[0].tolist() == [0.75, 0.25]
    assert found[1, 0] == pytest.approx(SMALLEST_SHARE, rel=0.01)


def test_a_fold_is_fitted_without_its_own_reports() -> None:
    rng = np.random.default_rng(0)
    operator = mean_operator(random_graph(40, rng), self_loops=True)
    reported = torch.from_numpy(rng.integers(-1, 3, size=40))
    whole, folds = cross_fitted_shares(reported, 3, operator, 2, folds=4, seed=1)
    torch.testing.assert_close(
        whole, estimated_shares(propagated_reports(reported, 3, operator, 2), None), atol=0.01, rtol=0
    )
    assert sorted(torch.cat([nodes for _, nodes in folds]).tolist()) == np.flatnonzero(reported >= 0).tolist()
    for number, (shares, nodes) in enumerate(folds):
        changed = reported.clone()
        changed[nodes] = (changed[nodes] + 1) % 3
        again = cross_fitted_shares(changed, 3, operator, 2, folds=4, seed=1)
        assert torch.equal(again[1][number][0], shares)
        assert not torch.equal(again[0], whole)
    untouched = cross_fitted_shares(
        torch.tensor([0, -1]), 2, mean_operator(sp.csr_array((2, 2)), self_loops=True), 1, folds=1, seed=0
    )
    assert untouched[0].tolist() == [[1.0, 0.0], [0.5, 0.5]]
