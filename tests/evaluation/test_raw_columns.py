"""Raw features as models want them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from privet.evaluation.raw_columns import leading_columns, scaled_rows, with_neighbours


def test_sparse_rows_have_length_one_and_empty_ones_stay_empty() -> None:
    rows = scaled_rows(sp.csr_array(np.array([[3.0, 0, 0, 0, 0, 4.0], [0] * 6, [0, 0, 2.0, 0, 0, 0]])))
    np.testing.assert_allclose(np.linalg.norm(rows.toarray(), axis=1), [1, 0, 1], atol=1e-6)


def test_dense_columns_have_one_deviation() -> None:
    rng = np.random.default_rng(0)
    rows = scaled_rows(rng.normal(size=(500, 4)) * [1, 10, 100, 1e-3] + 3)
    np.testing.assert_allclose(rows.toarray().std(axis=0), 0.5, rtol=1e-3)
    assert np.abs(rows.toarray().mean(axis=0)).max() < 2  # none is lost behind its mean


def test_leading_columns_span_what_the_features_differ_in() -> None:
    """Features of rank 3 in 200 columns: three columns tell them all."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(300, 3))
    features = sp.csr_array((hidden @ rng.normal(size=(3, 200))).astype(np.float32))
    found = leading_columns(features, 8, seed=0)
    assert found.shape == (300, 8)
    design = np.column_stack([found[:, :3], np.ones(300)])
    rest = hidden - design @ np.linalg.lstsq(design, hidden, rcond=None)[0]
    assert np.abs(rest).max() < 1e-2


def test_neighbours_are_one_and_two_hops_away() -> None:
    path = np.diag(np.ones(4), 1)
    mean = (path + path.T) / (path + path.T).sum(axis=1, keepdims=True)
    columns = np.array([[1.0], [0], [0], [0], [0]], dtype=np.float32)
    found = with_neighbours(columns, mean)
    assert found.shape == (5, 3)
    assert found[1, 1] == found[:, 1].max()
    assert found[0, 2] == found[:, 2].max()
    assert found[2, 2] > found[1, 2]
