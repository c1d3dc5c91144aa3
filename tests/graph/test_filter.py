"""A polynomial of an operator equals the dense polynomial, never writes to its input, and differentiates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import InvalidParameter
from privet.graph import Filter, mean_operator

COEFFICIENTS = st.lists(st.sampled_from([0.0, 1.0, -0.5, 2.0]), min_size=1, max_size=6)


@given(seed=st.integers(0, 2**32 - 1), coefficients=COEFFICIENTS, directed=st.booleans(), large=st.booleans())
def test_equal_to_the_dense_polynomial(
    random_adjacency: Callable[..., sp.csr_array], seed: int, coefficients: list[float], directed: bool, large: bool
) -> None:
    operator = mean_operator(random_adjacency(seed, directed=directed), self_loops=True, dtype=torch.float64)
    polynomial = Filter(operator, tuple(coefficients))
    dense = operator.matrix.to_dense().numpy()
    expected = sum(c * np.linalg.matrix_power(dense, power) for power, c in enumerate(coefficients))
    x = torch.randn(operator.num_nodes, 3, dtype=torch.float64)
    before = x.clone()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("privet.graph.csr._LARGE", 1 if large else 2**30)
        results = [polynomial @ x, polynomial @ x]
        column = polynomial @ x[:, 0]
    for result in results:
        np.testing.assert_allclose(result.numpy(), expected @ x.numpy(), atol=1e-12)
    np.testing.assert_allclose(column.numpy(), expected @ x[:, 0].numpy(), atol=1e-12)
    np.testing.assert_allclose(polynomial.sparse(sp.csr_array(x.numpy())).toarray(), expected @ x.numpy(), atol=1e-12)
    assert torch.equal(x, before)


@given(seed=st.integers(0, 2**32 - 1), coefficients=COEFFICIENTS, corrected=st.booleans(), cached=st.integers(1, 400))
def test_chebyshev_polynomials_corrections_and_blocks_of_columns(
    random_adjacency: Callable[..., sp.csr_array], seed: int, coefficients: list[float], corrected: bool, cached: int
) -> None:
    operator = mean_operator(random_adjacency(seed, directed=True), self_loops=True, dtype=torch.float64)
    nodes = operator.num_nodes
    pair = (torch.randn(nodes, 2, dtype=torch.float64), torch.randn(nodes, 2, dtype=torch.float64))
    polynomial = Filter(operator, tuple(coefficients), "chebyshev", pair if corrected else None)
    dense = operator.matrix.to_dense().numpy()
    expected = sum(c * chebyshev(power, dense) for power, c in enumerate(coefficients))
    expected = expected + (pair[0] @ pair[1].T).numpy() if corrected else expected
    x = torch.randn(nodes, 7, dtype=torch.float64)
    before = x.clone()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("privet.graph.filter._CACHE", cached)
        patch.setattr("privet.graph.filter._NARROWEST", 2)
        found, turned = polynomial @ x, polynomial.T @ x
    np.testing.assert_allclose(found.numpy(), expected @ x.numpy(), atol=1e-11)
    np.testing.assert_allclose(turned.numpy(), expected.T @ x.numpy(), atol=1e-11)
    np.testing.assert_allclose(polynomial.sparse(sp.csr_array(x.numpy())).toarray(), expected @ x.numpy(), atol=1e-11)
    assert torch.equal(x, before)


def chebyshev(degree: int, matrix: np.ndarray) -> np.ndarray:
    """T_degree of a matrix, by its recurrence."""
    before, now = np.eye(len(matrix)), matrix
    for _ in range(degree):
        before, now = now, 2 * matrix @ now - before
    return before


@given(seed=st.integers(0, 2**32 - 1), coefficients=COEFFICIENTS)
def test_gradients_to_second_order(
    random_adjacency: Callable[..., sp.csr_array], seed: int, coefficients: list[float]
) -> None:
    operator = mean_operator(random_adjacency(seed, directed=True), self_loops=True, dtype=torch.float64)
    polynomial = Filter(operator, tuple(coefficients))
    x = torch.randn(operator.num_nodes, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: polynomial @ x, x)
    assert torch.autograd.gradgradcheck(lambda x: (polynomial @ x) ** 2, x)


def test_no_coefficients_are_refused() -> None:
    operator = mean_operator(sp.csr_array((3, 3)), self_loops=True)
    with pytest.raises(InvalidParameter, match=r"coefficients .* at least one finite number"):
        Filter(operator, ())
    with pytest.raises(InvalidParameter, match=r"coefficients .* at least one finite number"):
        Filter(operator, (1.0, float("nan")))
