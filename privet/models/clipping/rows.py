"""Examples for private training: dense rows, or sparse ones that are never written out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

__all__ = ["Rows", "SparseRows", "outputs"]


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows x_i = v_i + o_i (1, ..., 1) with sparse v_i, such as standardised bags of words.

    A product with weights costs the entries of v, and a row's numbers do not depend on the other rows.

    Attributes:
        values: The v_i, a CSR matrix.
        offsets: The o_i.
    """

    values: sp.csr_array
    offsets: NDArray[np.floating]

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return int(self.values.shape[0]), int(self.values.shape[1])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> SparseRows:
        return SparseRows(self.values[rows], self.offsets[rows])

    def padded(self, count: int) -> SparseRows:
        """Return ``count`` rows: these, and rows of zeros."""
        pointers = np.pad(self.values.indptr, (0, count - len(self)), mode="edge")
        values = sp.csr_array((self.values.data, self.values.indices, pointers), shape=(count, self.shape[1]))
        return SparseRows(values, np.pad(self.offsets, (0, count - len(self))))

    def map(self, layer: nn.Linear) -> Tensor:
        """Return the layer's output without a gradient."""
        with torch.no_grad(), np.errstate(invalid="ignore", over="ignore"):  # a warning would tell of somebody
            weight = layer.weight.numpy()
            product = self.values.astype(weight.dtype, copy=False) @ np.ascontiguousarray(weight.T)
            product += np.outer(self.offsets.astype(weight.dtype), weight.sum(axis=1))
            return torch.from_numpy(product) + layer.bias

    def square_norms(self) -> NDArray[np.float64]:
        """Return the squared norm of each row."""
        counts = np.diff(self.values.indptr)
        offsets = self.offsets.astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            stored = self.values.data.astype(np.float64) + np.repeat(offsets, counts)
            squares = sp.csr_array((stored**2, self.values.indices, self.values.indptr), shape=self.shape).sum(axis=1)
            return np.asarray(np.asarray(squares).ravel() + (self.shape[1] - counts) * offsets**2)

    def rounded(self, scales: NDArray[np.float64]) -> SparseRows:
        """Return the rows times ``scales``, one a row, with every entry rounded to an integer.

        A row with scale 0 becomes zeros even if it is not finite: it stands for an example that counts for nothing.
        """
        repeated = np.repeat(np.arange(len(self)), np.diff(self.values.indptr))
        with np.errstate(invalid="ignore", over="ignore"):  # infinity times 0
            offsets = np.where(scales == 0, 0.0, np.rint(self.offsets * scales))
            stored = (self.values.data.astype(np.float64) + self.offsets[repeated]) * scales[repeated]
        whole = np.where(scales[repeated] == 0, 0.0, np.rint(stored) - offsets[repeated])
        return SparseRows(sp.csr_array((whole, self.values.indices, self.values.indptr), shape=self.shape), offsets)

    def weighted_sum(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``weights.T`` times the rows: one weighted sum of the rows for each column of weights."""
        total = np.asarray(self.values.T @ weights).T
        if self.offsets.any():
            total += (weights.T @ self.offsets)[:, None]
        return total

    def dense(self) -> NDArray[np.float32]:
        """Write the rows out."""
        return np.asarray(self.values.toarray() + self.offsets[:, None], dtype=np.float32)


Rows: TypeAlias = Tensor | SparseRows
"""Examples, one a row."""


def outputs(network: nn.Sequential, rows: Rows) -> Tensor:
    """Return a network's outputs without a gradient; sparse rows need a linear layer first."""
    with torch.no_grad():
        if not isinstance(rows, SparseRows):
            return cast(Tensor, network(rows))
        return cast(Tensor, network[1:](rows.map(cast(nn.Linear, network[0]))))
