"""Normalisations of an adjacency, D^left A D^right: the one place where they are computed.

D holds the sums of A's rows. A node without neighbours sends and receives nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["degree_powers", "normalised", "with_loops"]

Precision = type[np.float32] | type[np.float64]


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
        adjacency: The adjacency.
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
