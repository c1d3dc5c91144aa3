"""Estimates as a server uses them: an affine map of sparse symbols, never a dense matrix unless asked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["AffineFeatures"]


@dataclass(frozen=True, eq=False)
class AffineFeatures:
    """The N x d matrix ``symbols * scale + offset`` with sparse ``symbols`` and one scale and offset a column.

    An entry that is not stored in ``symbols`` (a coordinate that was not sampled) has the value ``offset``.
    ``privet.graph.LazyFeatures`` is its view in torch.
    """

    symbols: sp.csr_array
    scale: NDArray[np.float64]
    offset: NDArray[np.float64]

    @property
    def shape(self) -> tuple[int, int]:
        """N and d."""
        rows, columns = self.symbols.shape
        return int(rows), int(columns)

    def dense(self) -> NDArray[np.float64]:
        """The matrix itself, N x d in memory."""
        return np.asarray(self.symbols.toarray() * self.scale + self.offset)

    def mean(self) -> NDArray[np.float64]:
        """The column means, the server's estimate of the population's mean, at the cost of the reports."""
        sums = np.asarray(self.symbols.sum(axis=0, dtype=np.float64)).ravel()
        return sums / self.shape[0] * self.scale + self.offset
