"""The public random projection: rows on demand equal the matrix, distances stay."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from privet.errors import InvalidParameter
from privet.graph import projection
from privet.graph.projection import Projection


def some_symbols(rows: int, columns: int, seed: int) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    values = np.where(rng.random((rows, columns)) < 0.2, rng.choice([-1.0, 1.0], (rows, columns)), 0.0)
    return sp.csr_array(values.astype(np.float32))


@pytest.mark.parametrize(("dimension", "width"), [(50, 7), (50, 64), (300, 65), (9, 9), (3, 20)])
def test_blocks_of_reports_give_the_product_with_the_matrix(
    dimension: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projection, "_ENTRIES", 40)
    chosen = Projection(dimension, width)
    symbols, scale = some_symbols(31, dimension, 0), np.linspace(1, 2, dimension)
    matrix = chosen.matrix()
    assert matrix.shape == (dimension, min(dimension, width))
    expected = (symbols.toarray() * scale) @ matrix
    np.testing.assert_allclose(chosen.of(symbols, scale), expected, atol=1e-5)
    np.testing.assert_allclose(chosen.of_vector(scale), scale @ matrix, atol=1e-5)


def test_it_is_made_of_fair_and_unrelated_signs() -> None:
    matrix = Projection(2000, 200).matrix() * np.sqrt(200)
    assert set(np.unique(np.round(matrix, 5))) == {-1.0, 1.0}
    # A correct program fails for another seed with a probability below 1e-6: sums of 2,000 fair signs, 20,100 of them.
    products = matrix.T @ matrix / np.sqrt(2000)
    assert np.abs(products - np.diag(np.diag(products))).max() < 6.7
    assert np.abs(matrix.sum(axis=0)).max() / np.sqrt(2000) < 6.7
    assert not np.array_equal(Projection(100, 64).matrix(), Projection(100, 64, seed=1).matrix())


def test_distances_stay() -> None:
    x = np.random.default_rng(0).standard_normal((40, 3000))
    y = x @ Projection(3000, 1000).matrix()
    before, after = (np.linalg.norm(each[:20] - each[20:], axis=1) for each in (x, y))
    np.testing.assert_allclose(after / before, 1.0, atol=0.12)  # deviations of 0.022


@pytest.mark.parametrize("wrong", [{"width": 0}, {"dimension": 0}, {"seed": -1}, {"seed": 1 << 16}])
def test_refusals(wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidParameter, match=next(iter(wrong))):
        Projection(**{"dimension": 4, "width": 2} | wrong)
