"""The cheaper order of a propagated first layer: A^K (S W) at every epoch, or A^K S once and times W after.

The model counts the forward and the backward pass of the first layer (the backward repeats the same products
transposed) and prices three kinds of work:

    lazy            epochs * 2 h (nnz(S) + K nnz(A)) * GATHER
    eager, dense    K nnz(A) d * GATHER  +  epochs * 2 N d (READ + h MULTIPLY)
    eager, sparse   sum_k nnz(A) nnz(A^(k-1) S) / N * MERGE  +  epochs * 2 h nnz(A^K S) * GATHER

with nnz(A^k S) estimated as N d (1 - exp(-q min(deg^k, N))), q the density of S and deg = nnz(A) / N: as if the
deg^k nodes that a row reaches had independent columns. The prices are those of a current processor with two
cores; only their ratios decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from privet.errors import InvalidParameter

__all__ = ["Plan", "plan"]

GATHER = 1.0e-10  # seconds for one stored entry times one column of a dense matrix
READ = 2.0e-10  # seconds to stream one number of a dense matrix from memory
MULTIPLY = 1.0e-11  # seconds for one multiplication and addition between dense matrices
MERGE = 5.0e-9  # seconds for one multiplication and insertion between sparse matrices
_SPARSE_ENTRY, _NUMBER = 8, 4  # bytes: a 32-bit index with its value, a value


@dataclass(frozen=True)
class Plan:
    """The cheaper order and the estimates behind it.

    Attributes:
        choice: ``"lazy"`` for A^K (S W), ``"eager"`` for (A^K S) W.
        dense: True if the eager order would keep A^K S as a dense matrix.
        lazy_seconds: The time of all epochs in the lazy order.
        eager_seconds: The time of all epochs in the eager order.
        lazy_bytes: The memory that the features take in the lazy order.
        eager_bytes: The memory that the features take in the eager order.
    """

    choice: Literal["lazy", "eager"]
    dense: bool
    lazy_seconds: float
    eager_seconds: float
    lazy_bytes: float
    eager_bytes: float


def plan(
    num_nodes: int, nnz_features: int, dimension: int, hidden: int, hops: int, nnz_operator: int, epochs: int
) -> Plan:
    """Price both orders of the first layer.

    Args:
        num_nodes: The number of nodes, N.
        nnz_features: The number of entries of S that are not zero.
        dimension: The number of columns of S, d.
        hidden: The width of the first layer, h.
        hops: The number of propagations, K.
        nnz_operator: The number of entries of A.
        epochs: The number of epochs to train for.

    >>> plan(22_470, 22_470, 4_714, 16, 4, 341_646, 500).choice
    'lazy'
    >>> plan(22_470, 22_470 * 8, 8, 64, 4, 341_646, 500).choice
    'eager'
    """
    given = {"num_nodes": num_nodes, "nnz_features": nnz_features, "dimension": dimension, "hidden": hidden}
    for name, value in {**given, "hops": hops, "nnz_operator": nnz_operator, "epochs": epochs}.items():
        if value < 0:
            raise InvalidParameter(name, "a number of at least 0", value)
    cells = num_nodes * dimension
    layer = 2 * epochs  # forward and backward
    dense_product = layer * cells * (READ + hidden * MULTIPLY)
    features = min(layer * hidden * nnz_features * GATHER, dense_product if nnz_features == cells else math.inf)
    lazy = features + layer * hidden * hops * nnz_operator * GATHER
    dense = hops * nnz_operator * dimension * GATHER + dense_product
    filled = [_filled(k, num_nodes, nnz_features, cells, nnz_operator) for k in range(hops + 1)]
    merges = sum(nnz_operator * stored / max(num_nodes, 1) for stored in filled[:-1])
    sparse = merges * MERGE + layer * hidden * filled[-1] * GATHER
    return Plan(
        choice="lazy" if lazy <= min(dense, sparse) else "eager",
        dense=dense <= sparse,
        lazy_seconds=lazy,
        eager_seconds=min(dense, sparse),
        lazy_bytes=min(nnz_features * 2 * _SPARSE_ENTRY, cells * _NUMBER),
        eager_bytes=cells * _NUMBER if dense <= sparse else filled[-1] * 2 * _SPARSE_ENTRY,
    )


def _filled(hops: int, num_nodes: int, nnz_features: int, cells: int, nnz_operator: int) -> float:
    """Estimate the number of entries of A^hops S."""
    if not cells or not hops:
        return float(nnz_features)
    degree = nnz_operator / num_nodes
    reach = num_nodes if hops * math.log(max(degree, 1.0)) > math.log(num_nodes) else max(degree, 1.0) ** hops
    return -cells * math.expm1(-nnz_features / cells * reach)
