"""Examples that are weighted sums of nodes' sparse features, which are never multiplied out.

An example is x = s (y - m 1) with y = sum_j a_j X_j, where weights a_j and features X_j are integers. A product with a
layer's weights is then A (X W), and a clipped sum of gradients X' (A' Q): both cost the entries of A and of X, not
those of the product A X. Since all numbers of the second one are integers, it is exact in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from privet.models.clipping.rows import SparseRows

__all__ = ["AggregatedRows", "FeatureTable"]

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

_FEATURE_BITS = 10  # a usual feature that is not an integer has about 2^10 units
_LARGEST_FEATURE = 2.0**20  # in units
_SMALL_INTEGERS = 2.0**12
_SUM_BITS = 26  # an aggregated row has a norm of at most about 2^26 units
_AT_ONCE = 4096  # rows that are multiplied out to find their moments
_EXACT = 2.0**53


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Sparse features of all nodes, in integer multiples of a public unit.

    Attributes:
        whole: The features in units, a CSR matrix of integers in double precision.
        unit: The unit.
    """

    whole: sp.csr_array
    unit: float

    @classmethod
    def of(cls, features: sp.csr_array, public: NDArray[np.bool_]) -> FeatureTable:
        """Round features to a grid that only nodes whose features are not protected choose.

        Args:
            features: The features of all nodes.
            public: A mask of the nodes that may choose. If theirs are small integers, the unit is 1.
        """
        seen = features[public].data.astype(np.float64)
        seen = seen[np.isfinite(seen) & (seen != 0)]
        unit = 1.0
        if len(seen) and ((seen != np.rint(seen)).any() or np.abs(seen).max() > _SMALL_INTEGERS):
            unit = float(_power_of_two(np.sqrt(np.mean(seen**2)))) * 2.0**-_FEATURE_BITS
        scaled = np.nan_to_num(features.data.astype(np.float64) / unit, posinf=0.0, neginf=0.0)
        data = np.rint(np.clip(scaled, -_LARGEST_FEATURE, _LARGEST_FEATURE))
        return cls(sp.csr_array((data, features.indices, features.indptr), shape=features.shape), unit)

    @cached_property
    def plain(self) -> sp.csr_array:
        """The same integers in single precision."""
        return self.whole.astype(np.float32)

    @cached_property
    def norms(self) -> Array:
        """The norm of each node's row, in units."""
        return np.asarray(sp.linalg.norm(self.whole, axis=1))


class AggregatedRows(SparseRows):
    """Rows s_b (sum_j a_bj X_j - m_b (1, ..., 1)), each a function of its own weights and of features alone.

    Attributes:
        weights: The a_bj, a CSR matrix of integers in double precision, with a column for each node of the table.
        table: The X_j.
        sums: The sum of the entries of each sum_j a_bj X_j.
        squares: The squared norm of each.
        scales: The s_b.
        means: The m_b.
    """

    def __init__(
        self, weights: sp.csr_array, table: FeatureTable, sums: Array, squares: Array, scales: Array, means: Array
    ) -> None:
        self.weights = weights
        self.table = table
        self.sums = sums
        self.squares = squares
        self.scales = scales
        self.means = means

    @classmethod
    def standardised(cls, weights: sp.csr_array, table: FeatureTable) -> AggregatedRows:
        """Aggregate, subtract each row's own mean and divide by its own deviation.

        Args:
            weights: The weight of each node in each row. A row's weights are scaled by a power of two and rounded.
            table: The features.
        """
        width = table.whole.shape[1]
        sizes = abs(weights).astype(np.float64) @ table.norms  # bounds the norm of a row
        grain = _power_of_two(2.0**_SUM_BITS / np.where(sizes > 0, sizes, 2.0**_SUM_BITS))
        data = np.rint(weights.data.astype(np.float64) * np.repeat(grain, np.diff(weights.indptr)))
        whole = sp.csr_array((data, weights.indices, weights.indptr), shape=weights.shape)
        sums, squares = np.empty(len(grain)), np.empty(len(grain))
        for start in range(0, len(grain), _AT_ONCE):
            rows = slice(start, start + _AT_ONCE)
            product = whole[rows] @ table.whole
            sums[rows] = product.sum(axis=1)
            product.data **= 2
            squares[rows] = product.sum(axis=1)
        means = sums / width
        deviations = np.sqrt(np.maximum(squares / width - means**2, 0.0))
        return cls(whole, table, sums, squares, 1.0 / (deviations + 1e-6 * grain / table.unit), means)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return len(self.sums), int(self.table.whole.shape[1])

    def __getitem__(self, rows: slice | Whole) -> AggregatedRows:
        parts = (part[rows] for part in (self.sums, self.squares, self.scales, self.means))
        return AggregatedRows(self.weights[rows], self.table, *parts)

    @cached_property
    def values(self) -> sp.csr_array:
        """The rows multiplied out, without the means."""
        return (sp.diags_array(self.scales, format="csr") @ (self.weights @ self.table.whole)).astype(np.float32)

    @property
    def offsets(self) -> Array:
        """The number that every entry of a row has beside its value."""
        return -self.scales * self.means

    @cached_property
    def _nodes(self) -> Whole:
        """The nodes that have a weight."""
        used = np.zeros(self.weights.shape[1], dtype=np.bool_)
        used[self.weights.indices] = True
        return np.flatnonzero(used)

    @cached_property
    def _mixing(self) -> sp.csr_array:
        """The weights of those nodes alone."""
        place = np.zeros(self.weights.shape[1], dtype=self.weights.indices.dtype)
        place[self._nodes] = np.arange(len(self._nodes))
        parts = self.weights.data, place[self.weights.indices], self.weights.indptr
        return sp.csr_array(parts, shape=(len(self), len(self._nodes)))

    def map(self, layer: nn.Linear) -> Tensor:
        """Return the layer's output without a gradient."""
        with torch.no_grad():
            weight = layer.weight.numpy()
            features = self.table.plain[self._nodes].astype(weight.dtype, copy=False)
            product = self._mixing.astype(weight.dtype) @ (features @ np.ascontiguousarray(weight.T))
            product *= self.scales.astype(weight.dtype)[:, None]
            product += np.outer(self.offsets.astype(weight.dtype), weight.sum(axis=1))
            return torch.from_numpy(product) + layer.bias

    def square_norms(self) -> Array:
        """Return the squared norm of each row."""
        centred = self.squares - 2 * self.means * self.sums + self.means**2 * self.shape[1]
        return np.asarray(self.scales**2 * np.maximum(centred, 0.0))

    def exact_sum(self, slopes: Array) -> Array | Whole:
        """Return the sum over rows of the outer products q_b y_b, exactly modulo 2^64.

        Args:
            slopes: The q_b, integers below 2^62 in double precision, one row for each example.
        """
        features = self.table.whole[self._nodes].T
        if features.shape[0] > features.shape[1]:
            features = features.tocsr()  # few entries in each of many rows of the result
        return exact_product(features, exact_product(self._mixing.T, slopes)).T


def exact_product(matrix: sp.sparray, columns: Array | Whole) -> Array | Whole:
    """Return the product of integers, exactly modulo 2^64, in any order of summation.

    Doubles, which are faster than 64-bit integers, are taken where no partial sum can reach 2^53.

    Args:
        matrix: A sparse matrix of integers in double precision.
        columns: A matrix of integers below 2^63, in double precision or not.
    """
    heaviest = float(abs(matrix).sum(axis=1).max(initial=0.0))
    doubles = columns.astype(np.float64, copy=False)
    if max(float(doubles.max(initial=0.0)), -float(doubles.min(initial=0.0))) * heaviest < _EXACT:
        return np.asarray(matrix @ doubles)
    whole = columns.astype(np.int64, copy=False).view(np.uint64)
    return np.asarray((matrix.astype(np.int64).astype(np.uint64) @ whole).view(np.int64))


def _power_of_two(numbers: NDArray[np.floating] | float) -> Array:
    """Return the largest power of two that is at most each number."""
    return np.asarray(np.ldexp(1.0, np.frexp(numbers)[1] - 1))
