"""Personalised PageRank of an undirected graph in few hops: a few eigenvectors exactly, a polynomial for the rest.

With P = D^(r-1) A D^(-r), c = 1 - alpha and f(x) = alpha / (1 - c x), PageRank is Z = f(P) X. P has the eigenvalues of
the symmetric S = D^-1/2 A D^-1/2, which lie in [-1, 1]: P = D^(r-1/2) S D^(1/2-r). On an interval [l, h] below 1 / c

    p(x) = f(x) (1 - T_n(t(x)) / T_n(t(1 / c))),        t(x) = (2 x - l - h) / (h - l),

is a polynomial of degree n - 1 (the bracket is 0 at the pole of f) whose *relative* error |1 - p / f| is at most
1 / T_n(t(1 / c)), the least that the degree allows. The truncated series has its whole error near eigenvalue 1 and
needs ln(tolerance) / ln(c) hops; this needs about the square root of that.

Most graphs have few eigenvalues near 1, and these decide how many hops are needed. So the largest k eigenvalues with
their vectors U are computed once, the interval ends below them, and

    f(S) = p(S) + U diag(f - p) U^T

is exact there. Flickr's 28 hops for alpha = 0.1 become 2.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
import torch
from numpy.polynomial.chebyshev import chebinterpolate, chebval
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from privet.errors import InvalidParameter
from privet.graph.csr import normalised
from privet.graph.filter import Filter
from privet.graph.lazy import LazyFeatures
from privet.graph.operators import degrees_of, is_symmetric, pagerank_operator

__all__ = ["pagerank", "pagerank_filter", "resolvent_coefficients"]

Features = TypeVar("Features", torch.Tensor, LazyFeatures)

_VECTORS = 24  # eigenvectors that are computed
_RESTARTS = 30  # restarts of their computation, after which the graph has too many of them near 1
_ACCURACY = 1e-6
_WORTH = 0.75  # share of the hops that may stay if the vectors are to pay
_SMALL = 256  # nodes up to which the vectors are not worth their computation


def pagerank(
    x: Features, adjacency: sp.csr_array, alpha: float, r: float, *, tolerance: float, vectors: int = _VECTORS
) -> Features:
    """Compute Z = f(P) X of an undirected graph up to a relative error.

    Error: |D^(1/2-r) (Z - Z')(., j)| <= tolerance |D^(1/2-r) Z(., j)| in the Euclidean norm for each column j, since
    D^(1/2-r) turns P into the symmetric S, whose eigenvectors are orthogonal, and each component's error is relative.

    Args:
        x: The features, lazy or dense.
        adjacency: The symmetric adjacency, without negative weights.
        alpha: The decay, between 0 and 1.
        r: The convolution coefficient, from 0 to 1.
        tolerance: The largest relative error, between 0 and 1.
        vectors: The number of eigenvectors that may be used; 0 for none.
    """
    polynomial = pagerank_filter(adjacency, alpha, r, tolerance=tolerance, vectors=vectors)
    return x.filtered(polynomial) if isinstance(x, LazyFeatures) else polynomial @ x


def pagerank_filter(
    adjacency: sp.csr_array, alpha: float, r: float, *, tolerance: float, vectors: int = _VECTORS
) -> Filter:
    """Make the filter that :func:`pagerank` applies.

    Args:
        adjacency: As for :func:`pagerank`.
        alpha: As for :func:`pagerank`.
        r: As for :func:`pagerank`.
        tolerance: As for :func:`pagerank`.
        vectors: As for :func:`pagerank`.
    """
    if not is_symmetric(adjacency):
        raise InvalidParameter("pagerank needs an undirected graph. Use pagerank_series for a directed one.")
    operator = pagerank_operator(adjacency, r)
    plain = resolvent_coefficients(alpha, -1.0, 1.0, tolerance)
    found = _outer(adjacency, vectors)
    if found is None:
        return Filter(operator, plain, "chebyshev")
    low, values, columns = found
    inner = resolvent_coefficients(alpha, low, float(values.min()), tolerance)
    if len(inner) > _WORTH * len(plain):
        return Filter(operator, plain, "chebyshev")
    missing = alpha / (1 - (1 - alpha) * values) - chebval(values, inner)
    roots = np.maximum(degrees_of(adjacency), 1e-300) ** (r - 0.5)
    left, right = (torch.from_numpy(each).to(operator.matrix.dtype) for each in _scaled(columns, missing, roots))
    return Filter(operator, inner, "chebyshev", (left, right))


def resolvent_coefficients(alpha: float, low: float, high: float, tolerance: float) -> tuple[float, ...]:
    """Return the Chebyshev coefficients on [-1, 1] of the module's p, of the least degree for a relative error.

    Args:
        alpha: The decay, between 0 and 1.
        low: The lower end of the interval, at least -1.
        high: The upper end of the interval, at most 1.
        tolerance: The largest relative error on the interval, between 0 and 1.
    """
    for name, value in {"alpha": alpha, "tolerance": tolerance}.items():
        if not 0.0 < value < 1.0:
            raise InvalidParameter(name, "a number in (0, 1)", value)
    if not -1.0 <= low < high <= 1.0:
        raise InvalidParameter("interval", "within [-1, 1]", (low, high))
    onward = 1.0 - alpha
    low = min(low, -high)  # with its centre at most 0, |p| < 2 f on the whole of [-1, 1]
    centre, half = (low + high) / 2, (high - low) / 2
    growth = math.acosh((1.0 / onward - centre) / half)  # T_n(cosh g) = cosh(n g)
    degree = max(2, math.ceil(math.acosh(1.0 / tolerance) / growth))
    last = np.zeros(degree + 1)
    last[-1] = 1.0 / math.cosh(degree * growth)

    def polynomial(x: Any) -> Any:
        return alpha * (1.0 - chebval((x - centre) / half, last)) / (1.0 - onward * x)

    return tuple(chebinterpolate(polynomial, degree - 1).tolist())


def _outer(adjacency: sp.csr_array, vectors: int) -> tuple[float, NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the smallest eigenvalue of S, the largest ones and their vectors; None where they are hard to find."""
    nodes = adjacency.shape[0]
    if not vectors or nodes <= max(_SMALL, 4 * vectors) or not adjacency.nnz:
        return None
    symmetric = normalised(adjacency, -0.5, -0.5)
    start = np.random.default_rng(0).normal(size=nodes)  # a fixed one, so that the result repeats
    search = {"v0": start, "maxiter": _RESTARTS}
    try:
        values, columns = eigsh(symmetric, k=vectors, which="LA", tol=_ACCURACY, **search)
        (lowest,) = eigsh(symmetric, k=1, which="SA", tol=1e-3, return_eigenvectors=False, **search)
    except ArpackNoConvergence:
        return None
    return max(-1.0, 1.01 * float(lowest) - 1e-3), values, columns


def _scaled(
    columns: NDArray[np.float64], missing: NDArray[np.float64], roots: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return D^(r-1/2) U diag(f - p) and D^(1/2-r) U."""
    return columns * missing * roots[:, None], columns / roots[:, None]
