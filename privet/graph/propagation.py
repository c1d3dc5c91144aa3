"""Propagation over a graph: KProp, and personalised PageRank as a truncated series and as a backward push.

Both PageRank methods compute, for an operator P = D^(r-1) A D^(-r) and a decay alpha,

    Z = sum_{l >= 0} alpha (1 - alpha)^l P^l X.

Their errors are bounded in the degree-scaled norm |X|_r = max_v |X(v, j)| / d_v^r over the nodes with neighbours
(column by column), for this reason: P = D^r M D^(-r) with the row mean M = D^-1 A, so that P^l = D^r M^l D^(-r);
and M averages, so that max |M Y| <= max |Y| and |P X|_r <= |X|_r. The plain maximum norm would not do: P can
grow it by (max degree / min degree)^r. Weights must not be negative. A node without neighbours sends and
receives nothing: its row of Z is alpha X exactly.
"""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from privet.errors import InvalidData, InvalidParameter
from privet.graph.filter import Filter
from privet.graph.lazy import LazyFeatures
from privet.graph.operators import GraphLike, Operator, adjacency_of, degrees_of

__all__ = [
    "backward_push",
    "kprop",
    "pagerank_series",
    "push_bound",
    "residual_bound",
    "series_terms",
    "series_weights",
]

Features = TypeVar("Features", torch.Tensor, LazyFeatures)


def kprop(x: Features, operator: Operator, hops: int) -> Features:
    """Compute A^hops X, the K aggregations of LPGNN's Algorithm 2, before its UPDATE.

    Args:
        x: The features, lazy or dense.
        operator: A. The paper aggregates over N(v) - {v}: pass an operator made with ``self_loops=False``.
        hops: The number of propagations, K.
    """
    return _filtered(x, Filter.hops(operator, hops))


def pagerank_series(
    x: Features, operator: Operator, alpha: float, *, terms: int | None = None, tolerance: float | None = None
) -> Features:
    """Compute Z_L = sum_{l < L} alpha (1 - alpha)^l P^l X.

    Error: |Z - Z_L|_r <= (1 - alpha)^L |X|_r, the module's norm. Proof: the tail's weights
    alpha (1 - alpha)^l, l >= L, sum to (1 - alpha)^L, and |P^l X|_r <= |X|_r. Entry by entry this is
    |Z - Z_L|(v, j) <= d_v^r (1 - alpha)^L |X(., j)|_r.

    Args:
        x: The features, lazy or dense.
        operator: P, from :func:`pagerank_operator`.
        alpha: The decay, between 0 and 1.
        terms: The number of terms, L; give it or ``tolerance``.
        tolerance: The largest error in units of the features' norm, from which L follows.
    """
    return _filtered(x, Filter(operator, series_weights(alpha, terms, tolerance)))


def series_weights(alpha: float, terms: int | None, tolerance: float | None) -> tuple[float, ...]:
    """Return alpha (1 - alpha)^l for l < L.

    Args:
        alpha: The decay, between 0 and 1.
        terms: The number of terms, L; give it or ``tolerance``.
        tolerance: The largest error in units of the features' norm, from which L follows.
    """
    if (terms is None) == (tolerance is None):
        given = "both" if terms is not None else "neither"
        raise InvalidParameter(f"pagerank_series takes either terms or tolerance; {given} was given.")
    count = terms if terms is not None else series_terms(alpha, tolerance or 0.0)
    residual_bound(alpha, count)  # checks both
    return tuple((alpha * (1.0 - alpha) ** np.arange(count)).tolist())


def residual_bound(alpha: float, terms: int) -> float:
    """Return (1 - alpha)^terms, the truncated series' largest error relative to |X|_r.

    Args:
        alpha: The decay, between 0 and 1.
        terms: The number of terms.
    """
    _check_alpha(alpha)
    if not isinstance(terms, int) or terms < 1:
        raise InvalidParameter("terms", "an integer of at least 1", terms)
    return float((1.0 - alpha) ** terms)


def series_terms(alpha: float, tolerance: float) -> int:
    """Find the smallest number of terms whose :func:`residual_bound` is at most ``tolerance``.

    Args:
        alpha: The decay, between 0 and 1.
        tolerance: The largest error relative to the features' norm.
    """
    _check_alpha(alpha)
    if not 0.0 < tolerance < 1.0:
        raise InvalidParameter("tolerance", "a number in (0, 1)", tolerance)
    terms = max(1, math.ceil(math.log(tolerance) / math.log1p(-alpha)) - 1)
    while residual_bound(alpha, terms) > tolerance:  # the logarithms round
        terms += 1
    return terms


def backward_push(
    x: torch.Tensor | LazyFeatures | sp.csr_array, graph: GraphLike, alpha: float, r: float, r_max: float
) -> torch.Tensor:
    """Compute Z by PrivGE's Algorithm 3, pushing every residue above ``r_max`` at once until none is left.

    It keeps reserves Q and residues R, starts with R = D^(-r) X and moves the frontier F (the entries of R whose
    absolute value exceeds r_max) by Q += alpha F and R += (1 - alpha) M F - F; then Z' = D^r Q.

    Error: |Z - Z'|(v, j) <= d_v^r r_max (:func:`push_bound`; d_v = 1 for a node without neighbours). Proof: with
    G = sum_l alpha (1 - alpha)^l M^l a push keeps Q + G R, since G F = alpha F + G (1 - alpha) M F. At the
    start it is G D^(-r) X = D^(-r) Z; at the end D^(-r) Z - Q = G R, and the rows of G are not negative and
    sum to at most 1, so no entry exceeds max |R| <= r_max.

    It ends: the weights w = sum_l (1 - alpha)^l (M^T)^l 1 satisfy (1 - alpha) M^T w = w - 1, so that a round
    lowers sum_v w_v |R(v, j)| by at least sum_v |F(v, j)| > r_max in every column that has a frontier.

    Work and memory follow the entries that are touched, not N x d; the arithmetic is in double precision.

    Args:
        x: The features.
        graph: A graph or a square sparse adjacency matrix without negative weights.
        alpha: The decay, between 0 and 1.
        r: The convolution coefficient, from 0 to 1.
        r_max: The largest residue that may stay.
    """
    _check_alpha(alpha)
    if not (r_max > 0.0 and math.isfinite(r_max)):
        raise InvalidParameter("r_max", "a finite number above 0", r_max)
    if not 0.0 <= r <= 1.0:
        raise InvalidParameter("r", "a number in [0, 1]", r)
    adjacency = _averageable(graph)
    scale = _scales(adjacency, r)
    values = x.dense() if isinstance(x, LazyFeatures) else x
    dtype = values.dtype if isinstance(values, torch.Tensor) else torch.float32
    start = sp.csr_array(values.numpy() if isinstance(values, torch.Tensor) else values, dtype=np.float64)
    if start.shape[0] != adjacency.shape[0]:
        raise InvalidData("features", f"one row for each of {adjacency.shape[0]} nodes", f"{start.shape[0]} rows")
    if not np.isfinite(start.data).all():
        raise InvalidData(
            "The features hold NaN or infinity, which a push cannot propagate. Fill these values in first."
        )
    degrees = degrees_of(adjacency)
    active = degrees > 0
    inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=active)
    mean = (1.0 - alpha) * sp.diags_array(inverse) @ adjacency @ sp.diags_array(active.astype(np.float64))
    residue = sp.csr_array(sp.diags_array(1.0 / scale) @ start)
    reserve = sp.csr_array(start.shape, dtype=np.float64)
    while (frontier := _above(residue, r_max)).nnz:
        reserve = reserve + alpha * frontier
        residue = sp.csr_array(residue - frontier + mean @ frontier)
    return torch.from_numpy((sp.diags_array(scale) @ reserve).toarray()).to(dtype)


def push_bound(graph: GraphLike, r: float, r_max: float) -> torch.Tensor:
    """Return d_v^r r_max for each node v, the largest error in its row of :func:`backward_push`.

    Args:
        graph: A graph or a square sparse adjacency matrix without negative weights.
        r: The convolution coefficient, from 0 to 1.
        r_max: The largest residue that may stay.
    """
    return torch.from_numpy(_scales(_averageable(graph), r) * r_max)


def _filtered(x: Features, polynomial: Filter) -> Features:
    if isinstance(x, LazyFeatures):
        return x.filtered(polynomial)
    return polynomial @ x


def _above(residue: sp.csr_array, r_max: float) -> sp.csr_array:
    """Keep the entries of larger absolute value than r_max."""
    large = np.abs(residue.data) > r_max
    pointers = np.concatenate(([0], np.cumsum(large)))[residue.indptr]
    return sp.csr_array((residue.data[large], residue.indices[large], pointers), shape=residue.shape)


def _averageable(graph: GraphLike) -> sp.csr_array:
    adjacency = adjacency_of(graph)
    if adjacency.nnz and adjacency.data.min() < 0:
        raise InvalidData("adjacency", "free of negative weights for a bounded push", adjacency.data.min())
    return adjacency


def _scales(adjacency: sp.csr_array, r: float) -> NDArray[np.float64]:
    degrees = degrees_of(adjacency)
    return np.power(np.where(degrees > 0, degrees, 1.0), r)


def _check_alpha(alpha: float) -> None:
    if not 0.0 < alpha < 1.0:
        raise InvalidParameter("alpha", "a number in (0, 1)", alpha)
