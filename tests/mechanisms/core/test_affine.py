from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from privet.mechanisms import AffineFeatures


def test_dense_and_mean_agree() -> None:
    rng = np.random.default_rng(0)
    symbols = sp.random_array((7, 5), density=0.3, rng=rng, format="csr")
    affine = AffineFeatures(symbols, rng.normal(size=5), rng.normal(size=5))
    expected = symbols.toarray() * affine.scale + affine.offset
    np.testing.assert_allclose(affine.dense(), expected)
    np.testing.assert_allclose(affine.mean(), expected.mean(axis=0))
    assert affine.shape == (7, 5)
