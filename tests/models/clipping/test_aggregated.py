"""Aggregated rows against the same rows written out."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from privet.models.clipping.aggregated import AggregatedRows, FeatureTable, exact_product

NODES = 20


def some_weights(seed: int, rows: int) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    return sp.csr_array(sp.random_array((rows, NODES), density=0.3, format="csr", rng=rng, dtype=np.float32))


def some_features(seed: int, columns: int, *, integers: bool) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    features = sp.csr_array(sp.random_array((NODES, columns), density=0.3, format="csr", rng=rng, dtype=np.float32))
    features.data = np.ceil(9 * features.data) if integers else features.data
    return features


def written_out(weights: sp.csr_array, features: sp.csr_array) -> np.ndarray:
    rows = np.asarray((weights.astype(np.float64) @ features.astype(np.float64)).toarray())
    return (rows - rows.mean(axis=1, keepdims=True)) / (rows.std(axis=1, keepdims=True) + 1e-6)


@given(st.integers(0, 2**31), st.integers(1, 7), st.integers(2, 30), st.booleans())
def test_everything_equals_the_rows_written_out(seed: int, rows: int, columns: int, integers: bool) -> None:
    weights, features = some_weights(seed, rows), some_features(seed, columns, integers=integers)
    x = AggregatedRows.standardised(weights, FeatureTable.of(features, np.ones(NODES, dtype=np.bool_)))
    expected = written_out(weights, features)
    large = np.abs(weights @ features).sum(axis=1) > 1e-2  # where 1e-6 beside the deviation does not show
    np.testing.assert_allclose(x.dense()[large], expected[large], atol=5e-3)
    np.testing.assert_allclose(x.square_norms(), (x.dense() ** 2).sum(axis=1), rtol=1e-3, atol=1e-3)
    layer = torch.nn.Linear(columns, 4)
    np.testing.assert_allclose(x.map(layer).numpy(), layer(torch.from_numpy(x.dense())).detach(), atol=1e-4)
    slopes = np.random.default_rng(seed).integers(-9, 9, (rows, 3)).astype(np.float64)
    whole = np.asarray((x.weights @ x.table.whole).toarray())
    assert np.array_equal(x.exact_sum(slopes), slopes.T @ whole)
    assert np.array_equal(x.sums, whole.sum(axis=1))
    assert np.array_equal(x.squares, (whole**2).sum(axis=1))


def test_small_integers_and_their_weights_are_kept_exactly() -> None:
    """Twice the centre and once each neighbour: no rounding, so the result is that of real numbers."""
    features = some_features(0, 12, integers=True)
    table = FeatureTable.of(features, np.ones(NODES, dtype=np.bool_))
    assert table.unit == 1
    weights = sp.csr_array(np.eye(NODES) * 2 + np.eye(NODES, k=1) + np.eye(NODES, k=3))
    x = AggregatedRows.standardised(weights, table)
    np.testing.assert_allclose(x.dense(), written_out(weights, features), atol=1e-6)


def test_a_row_does_not_depend_on_the_others() -> None:
    table = FeatureTable.of(some_features(1, 30, integers=False), np.ones(NODES, dtype=np.bool_))
    weights, layer = some_weights(1, 40), torch.nn.Linear(30, 16)
    whole = AggregatedRows.standardised(weights, table)
    for chosen in (slice(7, 8), np.array([3, 17])):
        alone = AggregatedRows.standardised(weights[chosen], table)
        for some in (alone, whole[chosen]):
            assert torch.equal(some.map(layer), whole.map(layer)[chosen])
            assert np.array_equal(some.square_norms(), whole.square_norms()[chosen])


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e6])
def test_only_public_nodes_choose_the_grid(size: float) -> None:
    features = some_features(2, 15, integers=False) * np.float32(size)
    public = np.arange(NODES) < 8
    table = FeatureTable.of(features, public)
    np.testing.assert_allclose((table.whole * table.unit).toarray(), features.toarray(), atol=1e-3 * size)
    strange = features.toarray()
    strange[~public] = 1e30
    strange[-1] = [np.nan, np.inf, *strange[-1, 2:]]
    other = FeatureTable.of(sp.csr_array(strange), public)
    assert other.unit == table.unit
    assert np.array_equal(other.whole[public].toarray(), table.whole[public].toarray())
    assert np.isfinite(other.whole.data).all()
    assert other.whole[[NODES - 1], [0]] == other.whole[[NODES - 1], [1]] == 0


@given(st.integers(0, 2**31), st.sampled_from([2**4, 2**30, 2**55]))
def test_products_of_integers_are_exact_modulo_two_to_the_64(seed: int, largest: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = sp.csr_array(rng.integers(-(2**20), 2**20, (4, 6)) * rng.integers(0, 2, (4, 6)), dtype=np.float64)
    columns = rng.integers(-largest, largest, (6, 2))
    expected = [
        [sum(int(a) * int(b) for a, b in zip(row, column, strict=True)) for column in columns.T]
        for row in matrix.toarray()
    ]
    found = exact_product(matrix, columns).astype(np.int64).tolist()
    assert all(
        (a - b) % 2**64 == 0 for one, two in zip(found, expected, strict=True) for a, b in zip(one, two, strict=True)
    )
