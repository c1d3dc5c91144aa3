"""Normalisations and digests of a topology in memory; test_adjacency compares the cluster's with them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from privet.graph import gcn_operator, mean_operator
from privet.graph.topology import Elsewhere, digest_of, mean_of, symmetric_of

PATH = sp.csr_array(np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]], dtype=np.float32))
COLUMNS = np.arange(8, dtype=np.float32).reshape(4, 2)


def test_normalisations_are_those_of_the_operators() -> None:
    import torch

    x = torch.from_numpy(COLUMNS)
    assert np.allclose(mean_of(PATH) @ COLUMNS, (mean_operator(PATH, self_loops=False) @ x).numpy())
    assert np.allclose(symmetric_of(PATH) @ COLUMNS, (gcn_operator(PATH, self_loops=False) @ x).numpy())
    assert (symmetric_of(PATH, np.float64) @ COLUMNS).dtype == np.float64


def test_a_matrix_is_not_elsewhere_and_its_digest_is_that_of_its_pattern() -> None:
    assert not isinstance(PATH, Elsewhere)
    assert digest_of(PATH) == digest_of(PATH.copy())
    assert digest_of(PATH) != digest_of(sp.csr_array(np.eye(4, dtype=np.float32)))
