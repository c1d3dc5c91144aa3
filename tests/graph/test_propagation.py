"""KProp and PageRank against dense linear algebra; both PageRank methods keep their proven bounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from privet.errors import InvalidData, InvalidParameter
from privet.graph import (
    LazyFeatures,
    backward_push,
    gcn_operator,
    kprop,
    pagerank_operator,
    pagerank_series,
    push_bound,
    residual_bound,
    series_terms,
)

SEEDS = st.integers(0, 2**32 - 1)
ALPHAS = st.floats(0.05, 0.95)
RS = st.sampled_from([0.0, 0.3, 0.5, 1.0])
ROUNDING = 1e-9
RandomAdjacency = Callable[..., sp.csr_array]


def exact_pagerank(adjacency: sp.csr_array, x: NDArray[np.float64], alpha: float, r: float) -> NDArray[np.float64]:
    """alpha (I - (1 - alpha) P)^-1 X."""
    P = pagerank_operator(adjacency, r, dtype=torch.float64).matrix.to_dense().numpy()
    return alpha * np.linalg.solve(np.eye(len(P)) - (1 - alpha) * P, x)


@given(seed=SEEDS, hops=st.integers(0, 5), directed=st.booleans())
def test_kprop_is_the_operators_power(random_adjacency: RandomAdjacency, seed: int, hops: int, directed: bool) -> None:
    adjacency = random_adjacency(seed, directed=directed)
    operator = gcn_operator(adjacency, self_loops=False, dtype=torch.float64)
    x = torch.randn(operator.num_nodes, 2, dtype=torch.float64)
    expected = np.linalg.matrix_power(operator.matrix.to_dense().numpy(), hops) @ x.numpy()
    np.testing.assert_allclose(kprop(x, operator, hops).numpy(), expected, atol=1e-12)


@given(seed=SEEDS, alpha=ALPHAS, r=RS, terms=st.integers(1, 20), directed=st.booleans(), weighted=st.booleans())
def test_series_keeps_its_bound(
    random_adjacency: RandomAdjacency, seed: int, alpha: float, r: float, terms: int, directed: bool, weighted: bool
) -> None:
    adjacency = random_adjacency(seed, directed=directed, weighted=weighted)
    degrees = adjacency.sum(axis=1)
    x = np.random.default_rng(seed).normal(size=(len(degrees), 2))
    operator = pagerank_operator(adjacency, r, dtype=torch.float64)
    error = np.abs(
        pagerank_series(torch.from_numpy(x), operator, alpha, terms=terms).numpy()
        - exact_pagerank(adjacency, x, alpha, r)
    )
    joined = degrees > 0
    assert (error[~joined] < ROUNDING).all()
    if joined.any():
        scale = degrees[joined, None] ** r
        norm = np.abs(x[joined] / scale).max(axis=0)
        assert (error[joined] <= scale * residual_bound(alpha, terms) * norm + ROUNDING).all()


def test_the_plain_maximum_norm_would_not_bound_the_series() -> None:
    star = np.zeros((101, 101))
    star[0, 1:] = star[1:, 0] = 1.0
    x = np.ones((101, 1))
    z = pagerank_series(
        torch.from_numpy(x), pagerank_operator(sp.csr_array(star), 1.0, dtype=torch.float64), 0.5, terms=3
    )
    assert np.abs(z.numpy() - exact_pagerank(sp.csr_array(star), x, 0.5, 1.0)).max() > residual_bound(0.5, 3)


@given(alpha=ALPHAS, tolerance=st.floats(1e-12, 0.99))
def test_series_terms_are_enough_and_not_one_too_many(alpha: float, tolerance: float) -> None:
    terms = series_terms(alpha, tolerance)
    assert residual_bound(alpha, terms) <= tolerance
    assert terms == 1 or residual_bound(alpha, terms - 1) > tolerance


@given(seed=SEEDS, alpha=ALPHAS, r=RS, r_max=st.floats(1e-4, 0.5), directed=st.booleans(), weighted=st.booleans())
def test_push_keeps_its_bound_and_agrees_with_the_series(
    random_adjacency: RandomAdjacency, seed: int, alpha: float, r: float, r_max: float, directed: bool, weighted: bool
) -> None:
    adjacency = random_adjacency(seed, directed=directed, weighted=weighted, loops=True)
    x = np.random.default_rng(seed).normal(size=(adjacency.shape[0], 2))
    pushed = backward_push(torch.from_numpy(x), adjacency, alpha, r, r_max).numpy()
    bound = push_bound(adjacency, r, r_max).numpy()[:, None]
    assert (np.abs(pushed - exact_pagerank(adjacency, x, alpha, r)) <= bound + ROUNDING).all()
    operator = pagerank_operator(adjacency, r, dtype=torch.float64)
    series = pagerank_series(torch.from_numpy(x), operator, alpha, tolerance=1e-12).numpy()
    assert (np.abs(pushed - series) <= bound + 1e-6).all()


@given(seed=SEEDS, alpha=ALPHAS, r=RS)
def test_push_leaves_what_is_below_its_threshold(
    random_adjacency: RandomAdjacency, seed: int, alpha: float, r: float
) -> None:
    adjacency = random_adjacency(seed)
    x = np.random.default_rng(seed).normal(size=(adjacency.shape[0], 2))
    assume(x.size)
    scaled = np.abs(x) / push_bound(adjacency, r, 1.0).numpy()[:, None]
    assert not backward_push(torch.from_numpy(x), adjacency, alpha, r, float(scaled.max()) * 1.01).any()
    assert backward_push(torch.from_numpy(x), adjacency, alpha, r, float(scaled.max()) * 0.99).any()


@given(seed=SEEDS, alpha=ALPHAS, r=RS)
def test_lazy_features_take_the_same_filters(
    random_adjacency: RandomAdjacency, seed: int, alpha: float, r: float
) -> None:
    adjacency = random_adjacency(seed)
    rng = np.random.default_rng(seed)
    x = sp.csr_array(rng.integers(-1, 2, (adjacency.shape[0], 4)).astype(np.float64))
    dense, lazy, W = torch.from_numpy(x.toarray()).float(), LazyFeatures.from_sparse(x), torch.randn(4, 3)
    operator = pagerank_operator(adjacency, r)
    torch.testing.assert_close(kprop(lazy, operator, 3) @ W, kprop(dense @ W, operator, 3), atol=1e-4, rtol=1e-4)
    expected = pagerank_series(dense, operator, alpha, terms=8)
    torch.testing.assert_close(pagerank_series(lazy, operator, alpha, terms=8) @ W, expected @ W, atol=1e-4, rtol=1e-4)
    pushed = backward_push(dense, adjacency, alpha, r, 1e-3)
    for same in (lazy, x):
        torch.testing.assert_close(backward_push(same, adjacency, alpha, r, 1e-3), pushed)


def test_errors_say_what_was_expected() -> None:
    graph = sp.csr_array(np.ones((3, 3)))
    operator, x = pagerank_operator(graph, 0.5), torch.ones(3, 1)
    for alpha in (0.0, 1.0, float("nan")):
        with pytest.raises(InvalidParameter, match="alpha must be"):
            pagerank_series(x, operator, alpha, terms=3)
        with pytest.raises(InvalidParameter, match="alpha must be"):
            backward_push(x, graph, alpha, 0.5, 0.1)
    for wrong in ({}, {"terms": 3, "tolerance": 0.1}):
        with pytest.raises(InvalidParameter, match=r"either terms or tolerance; (both|neither) was given"):
            pagerank_series(x, operator, 0.5, **wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="terms must be"):
        pagerank_series(x, operator, 0.5, terms=0)
    for tolerance in (0.0, 1.0, -0.1):
        with pytest.raises(InvalidParameter, match="tolerance must be"):
            pagerank_series(x, operator, 0.5, tolerance=tolerance)
    for r_max in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(InvalidParameter, match="r_max must be"):
            backward_push(x, graph, 0.5, 0.5, r_max)
    with pytest.raises(InvalidParameter, match="r must be"):
        backward_push(x, graph, 0.5, 1.5, 0.1)
    with pytest.raises(InvalidData, match="one row for each of 3 nodes"):
        backward_push(torch.ones(2, 1), graph, 0.5, 0.5, 0.1)
    with pytest.raises(InvalidData, match="hold NaN or infinity"):
        backward_push(torch.full((3, 1), float("nan")), graph, 0.5, 0.5, 0.1)
    with pytest.raises(InvalidData, match="negative weights"):
        backward_push(x, -graph, 0.5, 0.5, 0.1)
