from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from privet.graph.csr import csr_tensor, empty, is_large, spmm, to_scipy, to_torch


@given(st.integers(0, 12), st.integers(1, 12), st.sampled_from([1, 2, 5, 64, 65, 150]), st.integers(0, 2**31))
def test_the_product_overwrites_whatever_was_in_its_memory(rows: int, inner: int, columns: int, seed: int) -> None:
    """NaN in the memory of the result must not survive, not in rows without entries either."""
    rng = np.random.default_rng(seed)
    matrix = sp.csr_array(rng.normal(size=(rows, inner)) * (rng.random((rows, inner)) < 0.3), dtype=np.float32)
    x = torch.from_numpy(rng.normal(size=(inner, columns)).astype(np.float32))
    out = torch.full((rows, columns), torch.nan)
    expected = torch.from_numpy(matrix.toarray()) @ x
    torch.testing.assert_close(spmm(to_torch(matrix), x, out), expected)
    torch.testing.assert_close(spmm(to_torch(matrix), x), expected)


def test_wide_indices_give_the_same_product() -> None:
    matrix = sp.random_array((9, 9), density=0.4, rng=np.random.default_rng(0), format="csr", dtype=np.float32)
    narrow = to_torch(matrix)
    wide = csr_tensor(narrow.crow_indices().long(), narrow.col_indices().long(), narrow.values(), (9, 9))
    x = torch.rand(9, 3)
    torch.testing.assert_close(spmm(wide, x), spmm(narrow, x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_round_trip_with_scipy(dtype: torch.dtype) -> None:
    matrix = sp.random_array((5, 7), density=0.5, rng=np.random.default_rng(1), format="csr")
    again = to_scipy(to_torch(matrix, dtype))
    np.testing.assert_allclose(again.toarray(), matrix.toarray(), rtol=1e-6)
    assert to_torch(matrix).col_indices().dtype == torch.int32


@pytest.mark.parametrize(("rows", "large"), [(10, False), (1 << 20, True)])
def test_memory_of_either_kind_can_be_written_and_read(rows: int, large: bool) -> None:
    matrix = empty(rows, 8, torch.float32)
    assert matrix.shape == (rows, 8)
    assert is_large(matrix) == large
    matrix.fill_(1.5)
    assert matrix.sum().item() == 1.5 * 8 * rows
    view = matrix[-1]
    del matrix
    assert view.tolist() == [1.5] * 8  # the mapping lives as long as what looks into it
