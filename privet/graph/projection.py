"""A public random projection of feature columns: wide reports in a fixed number of columns.

X R keeps the distances between the rows of X (Johnson and Lindenstrauss) and commutes with propagation, A^K (X R) =
(A^K X) R, so that a graph of any size needs ``width`` columns whatever the number of features. R is a first layer that
is drawn once and never trained. Everybody can compute it: its signs are a hash of a public seed, column and place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data.mixing import STEP_WORD, mixed_words
from privet.errors import InvalidParameter

__all__ = ["Projection"]

_ENTRIES = 1 << 20  # of the reports that are projected at a time
_WORDS = 16  # bits of a counter for the words of a row
_BITS = 64


@dataclass(frozen=True)
class Projection:
    """R, a matrix of ``dimension`` rows and ``width`` columns whose rows are made when they are needed.

    Its entries are 1 / sqrt(width) or its negative, so that the rows of X R have the lengths of those of X on average.
    Features of no more columns than ``width`` are left as they are: R is then the identity.

    Attributes:
        dimension: The number of columns that are projected.
        width: The largest number of columns that are kept.
        seed: The public seed.

    >>> Projection(dimension=5, width=4).rows(np.array([0, 3])).tolist()
    [[-0.5, 0.5, -0.5, 0.5], [0.5, -0.5, -0.5, 0.5]]
    """

    dimension: int
    width: int
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least, bound in (("dimension", 1, 1 << 31), ("width", 1, _BITS << _WORDS), ("seed", 0, 1 << 16)):
            value = getattr(self, name)
            if not least <= value < bound:
                raise InvalidParameter(name, f"an integer from {least} to {bound - 1}", value)

    @property
    def columns(self) -> int:
        """The number of columns that are kept."""
        return min(self.dimension, self.width)

    def rows(self, columns: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
        """Return the rows of R for some columns of the features.

        Args:
            columns: The columns' numbers.
        """
        if self.dimension <= self.width:
            return np.asarray(columns[:, None] == np.arange(self.dimension), dtype=np.float32)
        words = np.arange(-(-self.width // _BITS), dtype=np.uint64)
        counters = np.asarray((columns.astype(np.uint64)[:, None] << np.uint64(_WORDS)) + words, dtype=np.uint64)
        bits = np.unpackbits(_mixed(counters, self.seed).astype("<u8").view(np.uint8), axis=1)[:, : self.width]
        return (1.0 - 2.0 * bits.astype(np.float32)) * np.float32(self.width**-0.5)

    def matrix(self) -> NDArray[np.float32]:
        """Return R itself."""
        return self.rows(np.arange(self.dimension))

    def of(self, symbols: sp.csr_array, scale: NDArray[np.float64]) -> NDArray[np.float32]:
        """Compute S diag(scale) R at the cost of the entries of S.

        Args:
            symbols: S, sparse, of ``dimension`` columns.
            scale: One number for each column.
        """
        result = np.empty((symbols.shape[0], self.columns), np.float32)
        for first, last in _blocks(symbols.indptr):
            start, stop = symbols.indptr[first], symbols.indptr[last]
            indices = symbols.indices[start:stop]
            values = (symbols.data[start:stop] * scale[indices]).astype(np.float32)
            used, places = np.unique(indices, return_inverse=True)
            pointers = symbols.indptr[first : last + 1] - start
            block = sp.csr_array((values, places, pointers), shape=(last - first, len(used)))
            result[first:last] = block @ self.rows(used)
        return result

    def of_vector(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Compute v R for one dense row v.

        Args:
            vector: One number for each column of the features.
        """
        size = max(1, _ENTRIES // self.columns)
        total = np.zeros(self.columns)
        for first in range(0, self.dimension, size):
            some = np.arange(first, min(first + size, self.dimension))
            total += vector[some] @ self.rows(some).astype(np.float64)
        return total


def _blocks(pointers: NDArray[np.integer[Any]]) -> Iterator[tuple[int, int]]:
    """Cut rows into blocks of a bounded number of entries, and at least one row each."""
    first, rows = 0, len(pointers) - 1
    while first < rows:
        last = int(np.searchsorted(pointers, int(pointers[first]) + _ENTRIES, side="right")) - 1
        last = min(max(last, first + 1), first + _ENTRIES, rows)
        yield first, last
        first = last


def _mixed(counters: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Hash counters to 64 bits each; integers wrap around."""
    return mixed_words((counters + np.uint64((seed << 48) + 1)) * STEP_WORD)
