"""Sparse linear algebra over one graph: operators, lazy features, propagation, partition."""

from privet.graph.lazy import Filter, LazyFeatures
from privet.graph.operators import Operator, gcn_operator, mean_operator, pagerank_operator, spmm, sum_operator

__all__ = [
    "Filter",
    "LazyFeatures",
    "Operator",
    "gcn_operator",
    "mean_operator",
    "pagerank_operator",
    "spmm",
    "sum_operator",
]
