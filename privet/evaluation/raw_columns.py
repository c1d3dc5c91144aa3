"""Raw features as models want them: sparse rows of comparable size, and a few columns that tell most of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.graph.coordinates import standardised
from privet.graph.topology import Aggregation

__all__ = ["leading_columns", "scaled_rows", "with_neighbours"]

_DENSE = 0.25  # share of non-zero entries from which features count as dense
_FAR = 3.0  # deviations from 0 beyond which a column's mean would hide how it differs
_MORE = 16  # columns that are looked at beside those that are kept


def scaled_rows(features: Any) -> sp.csr_array:
    """Scale sparse rows (bags of words) to norm 1, and columns of dense features to one deviation.

    Args:
        features: Dense or sparse features, one row a person.
    """
    raw = sp.csr_array(features).astype(np.float64)
    people, width = raw.shape
    squares = raw.multiply(raw)
    if raw.nnz < _DENSE * people * width:
        norms = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
        return sp.csr_array(sp.diags_array(1 / np.maximum(norms, 1e-12), format="csr") @ raw).astype(np.float32)
    mean = np.asarray(raw.mean(axis=0)).ravel()
    deviation = np.sqrt(np.maximum(np.asarray(squares.mean(axis=0)).ravel() - mean**2, 0))
    scale = np.where(deviation > 0, 1 / np.maximum(deviation, 1e-12), 0) / np.sqrt(width)
    shift = np.where(np.abs(mean) > _FAR * deviation, mean, 0)
    moved = sp.csr_array(raw.toarray() - shift) if shift.any() else raw  # others keep their zeros
    return sp.csr_array(moved @ sp.diags_array(scale, format="csr")).astype(np.float32)


def leading_columns(rows: sp.csr_array, width: int, seed: int) -> NDArray[np.float32]:
    """Return the features in the directions in which they differ most, each column with mean 0 and deviation 1.

    It is a truncated singular value decomposition by random columns (Halko, Martinsson and Tropp): no matrix as wide
    as the features is dense.

    Args:
        rows: The features.
        width: The number of columns; features that have no more are returned as they are, but standardised.
        seed: The seed of the random columns.
    """
    if rows.shape[1] <= width:
        return standardised(rows.toarray())
    columns = np.random.default_rng(seed).standard_normal((rows.shape[1], width + _MORE), dtype=np.float32)
    back = sp.csr_array(rows.T)
    basis = np.linalg.qr(rows @ columns)[0]
    basis = np.linalg.qr(rows @ (back @ basis))[0]
    turned, values, _ = np.linalg.svd((back @ basis).T, full_matrices=False)
    return standardised((basis @ turned)[:, :width] * values[:width])


def with_neighbours(columns: NDArray[np.float32], mean: Aggregation) -> NDArray[np.float32]:
    """Return columns, their means over neighbours, and the means of those over neighbours, side by side.

    Args:
        columns: One row a person.
        mean: The mean over neighbours.
    """
    once = mean @ columns
    return np.concatenate([columns, standardised(once), standardised(mean @ once)], axis=1)
