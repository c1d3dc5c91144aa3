"""Which m of d coordinates a user reports, and their values, at a cost of O(m) a user."""

from __future__ import annotations

import warnings
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from privet.errors import InvalidData, OutOfRangeWarning
from privet.mechanisms.primitives.bits import Bits

__all__ = [
    "Matrix",
    "as_matrix",
    "gather",
    "randomized_rounding",
    "rounding_thresholds",
    "sample_coordinates",
    "unit_positions",
    "warn_if_outside",
]

Matrix: TypeAlias = Any
"""A SciPy CSR array or a dense numpy array, N x d."""


def sample_coordinates(users: int, dimension: int, count: int, bits: Bits) -> NDArray[np.int32] | None:
    """A uniform subset of ``count`` of ``dimension`` coordinates for each user, ascending; None when it is all.

    Repeated values are drawn again until none is left. The procedure treats all coordinates alike, so every subset
    is equally likely. Above half of the coordinates it draws the complement.
    """
    if count == dimension:
        return None
    if 2 * count > dimension:
        left_out = sample_coordinates(users, dimension, dimension - count, bits)
        keep = np.ones((users, dimension), dtype=bool)
        np.put_along_axis(keep, np.asarray(left_out), False, axis=1)
        return np.nonzero(keep)[1].reshape(users, count).astype(np.int32)
    picks = np.sort(bits.below(dimension, (users, count)), axis=1)
    while (repeated := picks[:, 1:] == picks[:, :-1]).any():
        rows = repeated.any(axis=1)
        again = np.zeros((int(rows.sum()), count), dtype=bool)
        again[:, 1:] = repeated[rows]
        redrawn = picks[rows]
        redrawn[again] = bits.below(dimension, (int(again.sum()),))
        picks[rows] = np.sort(redrawn, axis=1)
    return picks.astype(np.int32)


def as_matrix(values: Any, dimension: int, owner: str) -> Matrix:
    """``values`` as a CSR or dense N x d matrix of floats without NaN."""
    matrix: Any
    if sp.issparse(values):
        matrix = sp.csr_array(values)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        stored = matrix.data
    else:
        try:
            if np.iscomplexobj(values) or np.ma.isMaskedArray(values):
                raise TypeError
            matrix = np.atleast_2d(np.asarray(values, dtype=np.float64))
        except (TypeError, ValueError):
            expected = "a matrix of real numbers without a mask"
            raise InvalidData(f"values given to {owner}", expected, type(values).__name__) from None
        stored = matrix
    if matrix.ndim != 2 or matrix.shape[1] != dimension:
        shape = " x ".join(map(str, matrix.shape))
        raise InvalidData(f"values given to {owner}", f"a matrix with {dimension} columns", shape)
    missing = np.isnan(stored)
    if missing.any():
        first = int(np.argmax(missing.ravel()))
        row = np.searchsorted(matrix.indptr, first, "right") - 1 if sp.issparse(matrix) else first // dimension
        raise InvalidData(f"values given to {owner}", "numbers", f"NaN in row {row}")
    return matrix


def gather(matrix: Matrix, coordinates: NDArray[np.int32] | None) -> NDArray[np.float64]:
    """The values at each user's coordinates, N x m; all of them where ``coordinates`` is None."""
    if coordinates is None:
        return matrix.toarray().astype(np.float64) if sp.issparse(matrix) else np.asarray(matrix)
    if not sp.issparse(matrix):
        return np.take_along_axis(np.asarray(matrix), coordinates.astype(np.int64), axis=1)
    rows = np.repeat(np.arange(matrix.shape[0]), coordinates.shape[1])
    found = np.asarray(matrix[rows, coordinates.ravel()], dtype=np.float64)
    return found.reshape(coordinates.shape)


def unit_positions(
    matrix: Matrix, coordinates: NDArray[np.int32] | None, low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the place of each value in its declared range, a number in [0, 1]; values outside are clipped."""
    warn_if_outside(matrix, low, high)
    lows, spans = (low, high - low) if coordinates is None else (low[coordinates], (high - low)[coordinates])
    return np.clip((gather(matrix, coordinates) - lows) / spans, 0.0, 1.0)


def warn_if_outside(matrix: Matrix, low: NDArray[np.float64], high: NDArray[np.float64]) -> None:
    """Count the given values outside their range, on the device only: the count is not part of any report."""
    if sp.issparse(matrix):
        stored, lows, highs = matrix.data, low[matrix.indices], high[matrix.indices]
    else:
        stored, lows, highs = matrix, low, high
    outside = int(np.count_nonzero((stored < lows) | (stored > highs)))
    if outside:
        text = f"{outside} of {np.size(stored)} values lay outside their declared range and were clipped on the device."
        warnings.warn(text, OutOfRangeWarning, stacklevel=4)


def randomized_rounding(positions: NDArray[np.float64], steps: int, bits: Bits) -> NDArray[np.int64]:
    """Round position * steps to a neighbouring integer so that the mean is kept.

    This mixes two inputs of the mechanism behind it, which can only bring its output distributions closer.
    """
    whole, threshold = rounding_thresholds(positions, steps)
    return whole + (bits.below(1 << 53, positions.shape) < threshold)


def rounding_thresholds(positions: ArrayLike, steps: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The lower grid point, and the chance out of 2^53 of the upper one."""
    scaled = np.asarray(positions, dtype=np.float64) * steps
    whole = np.floor(scaled)
    return whole.astype(np.int64), np.floor((scaled - whole) * float(1 << 53)).astype(np.int64)
