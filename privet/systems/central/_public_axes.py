"""Fewer columns at no cost: the principal axes of the features of unprotected nodes.

Noise grows with the number of weights, and most columns of wide features tell little. Axes that are computed from
validation and test nodes alone are public, so projecting everybody's features onto them reads nothing of a training
node but its own row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["PublicAxes"]

Features: TypeAlias = sp.csr_array | NDArray[np.float32]
Array = NDArray[np.float64]

_SPARE = 16  # directions that are iterated beside those that are kept
_ROUNDS = 8  # of subspace iteration


@dataclass(frozen=True, eq=False)
class PublicAxes:
    """A public linear map of features, each row standardised over its own columns first.

    Attributes:
        centre: The mean of the standardised rows that the axes were computed from.
        directions: One axis a column.
    """

    NAMES: ClassVar[tuple[str, str]] = ("axes.centre", "axes.directions")
    """The names under which the map is stored beside a network's weights."""

    centre: NDArray[np.float32]
    directions: NDArray[np.float32]

    @classmethod
    def of(cls, features: Features, width: int) -> PublicAxes:
        """Return the leading principal axes of some public rows.

        Args:
            features: The rows.
            width: The number of axes; fewer where there are fewer rows or columns.
        """
        rows = _Standardised.of(features)
        count, columns = features.shape
        width = min(width, count, columns)
        centre = rows.transposed_times(np.ones((count, 1))).ravel() / count
        start = np.random.default_rng(0).normal(size=(columns, min(width + _SPARE, count, columns)))  # a fixed one
        basis = np.linalg.qr(start)[0]
        for _ in range(_ROUNDS):
            image = rows.times(basis) - centre @ basis
            basis = np.linalg.qr(rows.transposed_times(image) - np.outer(centre, image.sum(axis=0)))[0]
        turned = np.linalg.svd(rows.times(basis) - centre @ basis, full_matrices=False)[2]
        directions = basis @ turned[:width].T
        return cls(centre.astype(np.float32), np.ascontiguousarray(directions, dtype=np.float32))

    @classmethod
    def of_weights(cls, weights: Mapping[str, NDArray[np.float32]]) -> PublicAxes | None:
        """Return the map that is stored beside a network's weights; None without one."""
        return cls(*(weights[name] for name in cls.NAMES)) if cls.NAMES[0] in weights else None

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Return the map as it is stored; it tells about unprotected nodes only."""
        return dict(zip(self.NAMES, (self.centre, self.directions), strict=True))

    def coordinates(self, features: Features) -> NDArray[np.float32]:
        """Return the coordinates of rows; those of one row do not depend on the other rows.

        Always give all N rows: then each has its place in the product, whoever takes part.
        """
        directions = self.directions.astype(np.float64)
        return np.asarray(_Standardised.of(features).times(directions) - self.centre @ directions, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class _Standardised:
    """Rows of mean 0 and deviation 1, kept as scaled rows plus a constant for each."""

    rows: sp.csr_array | Array
    constants: Array

    @classmethod
    def of(cls, features: Features) -> _Standardised:
        """Standardise each row over its own columns."""
        width = features.shape[1]
        rows = features.astype(np.float64)
        squares = rows.multiply(rows) if isinstance(rows, sp.csr_array) else rows**2
        mean = np.asarray(rows.sum(axis=1)).ravel() / width
        variance = np.asarray(squares.sum(axis=1)).ravel() / width - mean**2
        scale = 1.0 / (np.sqrt(np.maximum(variance, 0.0)) + 1e-6)
        if isinstance(rows, sp.csr_array):
            return cls(sp.csr_array(sp.diags_array(scale, format="csr") @ rows), -mean * scale)
        return cls(rows * scale[:, None], -mean * scale)

    def times(self, columns: Array) -> Array:
        """Return the rows times a matrix."""
        return np.asarray(self.rows @ columns) + np.outer(self.constants, columns.sum(axis=0))

    def transposed_times(self, columns: Array) -> Array:
        """Return the transposed rows times a matrix."""
        return np.asarray(self.rows.T @ columns) + self.constants @ columns
