"""Sparse rows against the same rows written out."""

import numpy as np
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from privet.models.clipping import perceptron
from privet.models.clipping.rows import SparseRows, outputs


def some_rows(seed: int, rows: int, columns: int) -> SparseRows:
    rng = np.random.default_rng(seed)
    values = sp.random_array((rows, columns), density=0.4, format="csr", rng=rng, dtype=np.float32)
    return SparseRows(sp.csr_array(values), rng.normal(size=rows))


@given(st.integers(0, 2**32), st.integers(1, 7), st.integers(1, 9))
def test_everything_equals_the_dense_rows(seed: int, count: int, columns: int) -> None:
    rows = some_rows(seed, count, columns)
    dense = rows.values.toarray() + rows.offsets[:, None]
    layer = torch.nn.Linear(columns, 4)
    expected = layer(torch.from_numpy(dense).float()).detach().numpy()
    np.testing.assert_allclose(rows.map(layer).numpy(), expected, atol=1e-5)
    np.testing.assert_allclose(rows.square_norms(), (dense**2).sum(axis=1), rtol=1e-9)
    np.testing.assert_allclose(rows.dense(), dense, rtol=1e-6)
    scales = np.linspace(1, 1000, count)
    whole = rows.rounded(scales)
    exact = whole.values.toarray() + whole.offsets[:, None]
    assert np.array_equal(exact, np.rint(exact))
    np.testing.assert_allclose(exact, dense * scales[:, None], atol=0.501)
    weights = np.random.default_rng(seed).normal(size=(count, 3))
    np.testing.assert_allclose(rows.weighted_sum(weights), weights.T @ dense, atol=1e-9)


def test_a_row_does_not_depend_on_the_others() -> None:
    rows, layer = some_rows(0, 40, 30), torch.nn.Linear(30, 16)
    whole = rows.map(layer)
    assert torch.equal(rows[7:8].map(layer), whole[7:8])
    assert np.array_equal(rows[3:20].square_norms(), rows.square_norms()[3:20])


def test_a_network_takes_both_kinds() -> None:
    rows, network = some_rows(1, 12, 30), perceptron(30, 8, 3)
    torch.testing.assert_close(outputs(network, rows), outputs(network, torch.from_numpy(rows.dense())))
