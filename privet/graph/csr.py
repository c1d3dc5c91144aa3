"""CSR matrices: the one sparse product, the one normalisation, and views in SciPy and torch without copies.

Normalisations are D^left A D^right, with D the sums of A's rows: a node without neighbours sends and receives nothing.

A hop gathers rows of its input at random. With pages of 4 KiB and an input of hundreds of megabytes nearly every
gather misses the translation cache too, which nearly doubles the time of a hop; with pages of 2 MiB it does not.
:func:`empty` makes such memory.
"""

from __future__ import annotations

import mmap
import warnings
from contextlib import suppress
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

__all__ = [
    "csr_tensor",
    "degree_powers",
    "empty",
    "is_large",
    "normalised",
    "spmm",
    "to_scipy",
    "to_torch",
    "with_loops",
]

_PANEL = 64  # columns that are multiplied at once
_INT32_MAX = np.iinfo(np.int32).max
# malloc never reuses blocks above this size either, so that nothing is lost by mapping our own.
_LARGE = 32 * 2**20
Precision = type[np.float32] | type[np.float64]


def spmm(matrix: torch.Tensor, x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Multiply a CSR by a dense matrix: the product that everything goes through. It has no gradient.

    With 32-bit indices MKL takes the arrays as they are and is the fastest at up to 64 columns; with 128 at once it can
    take six times as long as with 64, so wide matrices are multiplied some columns after another. Writing into memory
    of our own matters as much: ``torch.mm`` fills a zero matrix, copies it and only then multiplies. 64-bit indices
    (2^31 entries and more) would be copied down at each call, so torch's own reduction takes them.

    Args:
        matrix: A CSR tensor.
        x: A dense matrix.
        out: Memory for the result, if there is some to reuse.
    """
    if matrix.col_indices().dtype != torch.int32:
        reduced: torch.Tensor = torch.sparse.mm(matrix, x.contiguous(), "sum")
        return reduced
    result = empty(matrix.shape[0], x.shape[1], x.dtype) if out is None else out
    if x.shape[1] <= _PANEL:
        return torch.addmm(result, matrix, x.contiguous(), beta=0, out=result)
    for start in range(0, x.shape[1], _PANEL):
        part = result[:, start : start + _PANEL]
        torch.addmm(part, matrix, x[:, start : start + _PANEL].contiguous(), beta=0, out=part)
    return result


def to_torch(matrix: sp.csr_array, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Make the CSR tensor of a SciPy matrix, with 32-bit indices where they fit.

    Args:
        matrix: The matrix, whose memory the tensor may share: do not write to either.
        dtype: The type of the values.
    """
    index = np.int32 if max(*matrix.shape, matrix.nnz) <= _INT32_MAX else np.int64
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        pointers = torch.from_numpy(matrix.indptr.astype(index, copy=False))
        columns = torch.from_numpy(matrix.indices.astype(index, copy=False))
        values = torch.from_numpy(matrix.data).to(dtype)
    return csr_tensor(pointers, columns, values, matrix.shape)


def to_scipy(matrix: torch.Tensor) -> sp.csr_array:
    """Make a SciPy view of a CSR tensor, sharing its memory.

    Args:
        matrix: The CSR tensor.
    """
    arrays = matrix.values().numpy(), matrix.col_indices().numpy(), matrix.crow_indices().numpy()
    return sp.csr_array(arrays, shape=tuple(matrix.shape))


def csr_tensor(
    pointers: torch.Tensor, columns: torch.Tensor, values: torch.Tensor, shape: tuple[int, ...]
) -> torch.Tensor:
    """Make a CSR tensor of three arrays without checking them.

    Args:
        pointers: The place of each row's first entry, and the number of entries last.
        columns: Each entry's column.
        values: Each entry's value.
        shape: Rows and columns.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(pointers, columns, values, size=tuple(shape), check_invariants=False)


def is_large(x: torch.Tensor) -> bool:
    """Return True if x is large enough for huge pages to matter.

    Args:
        x: A tensor.
    """
    return x.numel() * x.dtype.itemsize >= _LARGE


def empty(rows: int, columns: int, dtype: torch.dtype) -> torch.Tensor:
    """Make an uninitialised matrix, on huge pages where it is large and the operating system has them.

    Args:
        rows: The number of rows.
        columns: The number of columns.
        dtype: The type of the values.
    """
    size = rows * columns * dtype.itemsize
    if size < _LARGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return torch.empty(rows, columns, dtype=dtype)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):  # a kernel built without them: the memory is as good as any other
        memory.madvise(mmap.MADV_HUGEPAGE)
    return torch.frombuffer(memory, dtype=dtype).view(rows, columns)


def normalised(
    adjacency: sp.csr_array, left: float, right: float | None, precision: Precision = np.float64
) -> sp.csr_array:
    """Return D^left A D^right.

    Both scales are multiplied first, so that a symmetric A stays symmetric to the bit.

    Args:
        adjacency: A.
        left: The exponent of the receiving node's degree.
        right: The exponent of the sending node's degree; None leaves the sending node's degree out.
        precision: The type in which degrees, scales and entries are computed.
    """
    degrees = np.asarray(adjacency.sum(axis=1, dtype=precision)).ravel()
    entries = np.repeat(degree_powers(degrees, left), np.diff(adjacency.indptr))
    if right is not None:
        entries *= degree_powers(degrees, right)[adjacency.indices]
    entries *= adjacency.data
    return sp.csr_array((entries, adjacency.indices, adjacency.indptr), shape=adjacency.shape)


def degree_powers(degrees: NDArray[Any], exponent: float) -> NDArray[Any]:
    """Compute degrees ** exponent, and 0 for a node of degree 0.

    Args:
        degrees: Floating-point numbers, in whose type the powers are computed.
        exponent: The exponent; in single precision -1/2 and -1 are rounded as 1 / sqrt(degree) and 1 / degree are.
    """
    linked, powers = degrees > 0, np.zeros_like(degrees)
    if degrees.dtype == np.float64 or exponent not in (-0.5, -1.0):
        np.power(degrees, exponent, out=powers, where=linked)
        return powers
    roots = np.sqrt(degrees, where=linked, out=powers) if exponent == -0.5 else degrees
    np.divide(1, roots, out=powers, where=linked)
    return powers


def with_loops(adjacency: sp.csr_array, self_loops: bool) -> sp.csr_array:
    """Return the adjacency with a loop at every node, or with none.

    Args:
        self_loops: True adds a loop of weight 1 at every node that has none; False leaves all loops out.
    """
    diagonal = adjacency.diagonal()
    if self_loops:
        return sp.csr_array(adjacency + sp.diags_array((diagonal == 0).astype(np.float64), format="csr"))
    if not diagonal.any():
        return adjacency
    rows = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
    kept = rows != adjacency.indices
    counts = np.bincount(rows[kept], minlength=adjacency.shape[0])
    pointers = np.concatenate(([0], np.cumsum(counts)))
    return sp.csr_array((adjacency.data[kept], adjacency.indices[kept], pointers), shape=adjacency.shape)
