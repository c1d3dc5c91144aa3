"""The one sparse product, and CSR matrices between SciPy and torch without copies where the types allow."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
import torch

from privet.graph.pages import empty

__all__ = ["csr_tensor", "spmm", "to_scipy", "to_torch"]

_INT32_MAX = np.iinfo(np.int32).max


def spmm(matrix: torch.Tensor, x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """CSR times dense, the product that everything goes through; ``out`` may be written to. It has no gradient.

    With 32-bit indices MKL takes the arrays as they are and is the fastest at any width. Writing into memory of
    our own matters as much: ``torch.mm`` fills a zero matrix, copies it and only then multiplies. 64-bit indices
    (2^31 entries and more) would be copied down at each call, so torch's own reduction takes them.
    """
    if matrix.col_indices().dtype != torch.int32:
        reduced: torch.Tensor = torch.sparse.mm(matrix, x.contiguous(), "sum")
        return reduced
    result = empty(matrix.shape[0], x.shape[1], x.dtype) if out is None else out
    return torch.addmm(result, matrix, x.contiguous(), beta=0, out=result)


def to_torch(matrix: sp.csr_array, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """The CSR tensor of a SciPy matrix, with 32-bit indices where they fit; it must not be written to."""
    index = np.int32 if max(*matrix.shape, matrix.nnz) <= _INT32_MAX else np.int64
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        pointers = torch.from_numpy(matrix.indptr.astype(index, copy=False))
        columns = torch.from_numpy(matrix.indices.astype(index, copy=False))
        values = torch.from_numpy(matrix.data).to(dtype)
    return csr_tensor(pointers, columns, values, matrix.shape)


def to_scipy(matrix: torch.Tensor) -> sp.csr_array:
    """The SciPy view of a CSR tensor, sharing its memory."""
    arrays = matrix.values().numpy(), matrix.col_indices().numpy(), matrix.crow_indices().numpy()
    return sp.csr_array(arrays, shape=tuple(matrix.shape))


def csr_tensor(
    pointers: torch.Tensor, columns: torch.Tensor, values: torch.Tensor, shape: tuple[int, ...]
) -> torch.Tensor:
    """A CSR tensor of the three arrays, which are trusted."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(pointers, columns, values, size=tuple(shape), check_invariants=False)
