"""D^left A D^right, against the dense products."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp

from privet.graph.csr import degree_powers, normalised, with_loops


@pytest.mark.parametrize(("left", "right"), [(-0.5, -0.5), (-1.0, None), (-0.7, -0.3), (0.0, -1.0)])
def test_a_normalisation_is_the_dense_product(
    random_adjacency: Callable[..., sp.csr_array], left: float, right: float | None
) -> None:
    adjacency = random_adjacency(3, loops=True)
    dense = adjacency.toarray().astype(np.float64)
    degrees = dense.sum(axis=1)
    powers = [np.where(degrees > 0, np.maximum(degrees, 1e-9) ** (each or 0.0), 0.0) for each in (left, right)]
    found = normalised(adjacency, left, right)
    assert np.allclose(found.toarray(), powers[0][:, None] * dense * powers[1])
    assert normalised(adjacency, left, right, np.float32).dtype == np.float32


def test_powers_are_rounded_as_quotients_and_nobody_divides_by_zero() -> None:
    degrees = np.arange(200, dtype=np.float32)
    for exponent, expected in ((-0.5, 1 / np.sqrt(degrees[1:])), (-1.0, 1 / degrees[1:])):
        powers = degree_powers(degrees, exponent)
        assert powers[0] == 0
        assert np.array_equal(powers[1:], expected)


def test_loops_are_added_or_left_out() -> None:
    adjacency = sp.csr_array(np.array([[2.0, 1.0], [1.0, 0.0]]))
    assert with_loops(adjacency, True).toarray().tolist() == [[2, 1], [1, 1]]
    assert with_loops(adjacency, False).toarray().tolist() == [[0, 1], [1, 0]]
