"""PageRank by few eigenvectors and a polynomial has the promised relative error, on any undirected graph."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial.chebyshev import chebval

from privet.data import social_graph
from privet.errors import InvalidParameter
from privet.graph import LazyFeatures, pagerank, pagerank_operator, series_terms
from privet.graph.pagerank import pagerank_filter, resolvent_coefficients


def exact(adjacency: sp.csr_array, x: np.ndarray, alpha: float, r: float) -> np.ndarray:
    operator = pagerank_operator(adjacency, r, dtype=torch.float64).matrix.to_dense().numpy()
    return alpha * np.linalg.solve(np.eye(len(x)) - (1 - alpha) * operator, x)


def relative_error(adjacency: sp.csr_array, found: np.ndarray, expected: np.ndarray, r: float) -> float:
    """Columns' largest error in the degree-scaled norm of the module."""
    degrees = np.maximum(np.asarray(adjacency.sum(axis=1)).ravel(), 1.0)[:, None] ** (0.5 - r)
    return float(
        (np.linalg.norm(degrees * (found - expected), axis=0) / np.linalg.norm(degrees * expected, axis=0)).max()
    )


@given(
    alpha=st.floats(0.02, 0.9),
    tolerance=st.floats(1e-6, 0.5),
    ends=st.tuples(st.floats(-1, 1), st.floats(-1, 1)).filter(lambda ends: ends[1] - ends[0] > 0.05),
)
def test_the_polynomial_s_relative_error(alpha: float, tolerance: float, ends: tuple[float, float]) -> None:
    coefficients = resolvent_coefficients(alpha, *ends, tolerance)
    x = np.linspace(*ends, 2001)
    wanted = alpha / (1 - (1 - alpha) * x)
    assert np.abs(chebval(x, coefficients) / wanted - 1).max() <= tolerance * (1 + 1e-6) + 1e-9
    everywhere = np.linspace(-1, 1, 2001)
    assert np.abs(chebval(everywhere, coefficients) * (1 - (1 - alpha) * everywhere) / alpha).max() < 2 + 1e-6


def test_the_degree_is_far_below_that_of_the_series() -> None:
    for alpha in (0.02, 0.1):
        assert len(resolvent_coefficients(alpha, -1, 1, 0.05)) < series_terms(alpha, 0.05) / 3


@given(seed=st.integers(0, 2**32 - 1), alpha=st.floats(0.05, 0.9), r=st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_error_on_random_graphs(
    random_adjacency: Callable[..., sp.csr_array], seed: int, alpha: float, r: float
) -> None:
    adjacency = random_adjacency(seed, directed=False)
    x = np.random.default_rng(seed).normal(size=(adjacency.shape[0], 2))
    found = pagerank(torch.from_numpy(x).float(), adjacency, alpha, r, tolerance=0.01).numpy()
    assert relative_error(adjacency, found, exact(adjacency, x, alpha, r), r) < 0.01 + 1e-4


@pytest.mark.parametrize("r", [0.0, 0.5, 1.0])
def test_eigenvectors_take_hops_away_and_keep_the_error(r: float) -> None:
    graph = social_graph(600, classes=4, features=5, seed=1)
    x = np.random.default_rng(0).normal(size=(600, 3))
    x = np.concatenate([x, np.ones((600, 1))], axis=1)
    plain = pagerank_filter(graph.adjacency, 0.1, r, tolerance=0.02, vectors=0)
    few = pagerank_filter(graph.adjacency, 0.1, r, tolerance=0.02)
    assert plain.correction is None
    assert few.correction is not None
    assert few.degree < plain.degree
    expected = exact(graph.adjacency, x, 0.1, r)
    for made in (plain, few):
        found = (made @ torch.from_numpy(x).float()).numpy()
        assert relative_error(graph.adjacency, found, expected, r) < 0.02 + 1e-4
    # The transpose is what gradients use, and lazy features what training does.
    weight = torch.randn(4, 2, requires_grad=True)
    lazy = LazyFeatures.from_dense(torch.from_numpy(x).float()).filtered(few)
    (lazy @ weight).square().sum().backward()
    dense = torch.from_numpy(lazy.dense().numpy())
    again = weight.detach().clone().requires_grad_()
    (dense @ again).square().sum().backward()
    torch.testing.assert_close(weight.grad, again.grad, rtol=1e-3, atol=1e-2)
    np.testing.assert_allclose(lazy.materialise(dense=False).dense(), lazy.dense(), atol=1e-4)


def test_what_is_refused() -> None:
    arrow = sp.csr_array(np.array([[0.0, 1.0], [0.0, 0.0]]))
    with pytest.raises(InvalidParameter, match="needs an undirected graph"):
        pagerank(torch.ones(2, 1), arrow, 0.1, 0.5, tolerance=0.1)
    for wrong in ({"alpha": 1.0}, {"tolerance": 0.0}, {"low": 0.5, "high": 0.2}):
        with pytest.raises(InvalidParameter):
            resolvent_coefficients(**{"alpha": 0.1, "low": -1.0, "high": 1.0, "tolerance": 0.1} | wrong)
