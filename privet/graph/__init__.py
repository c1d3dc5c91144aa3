"""Sparse linear algebra over one graph: operators, lazy features, propagation, partition."""

from privet.graph.csr import spmm
from privet.graph.filter import Filter
from privet.graph.lazy import LazyFeatures
from privet.graph.metis import metis_parts, partition
from privet.graph.operators import GraphLike, Operator, gcn_operator, mean_operator, pagerank_operator, sum_operator
from privet.graph.pagerank import pagerank
from privet.graph.plan import Plan, plan
from privet.graph.propagation import (
    backward_push,
    kprop,
    pagerank_series,
    push_bound,
    residual_bound,
    series_terms,
)
from privet.graph.subgraphs import SubgraphBatch, SubgraphSampler, few_neighbours, poisson_sample

__all__ = [
    "Filter",
    "GraphLike",
    "LazyFeatures",
    "Operator",
    "Plan",
    "SubgraphBatch",
    "SubgraphSampler",
    "backward_push",
    "few_neighbours",
    "gcn_operator",
    "kprop",
    "mean_operator",
    "metis_parts",
    "pagerank",
    "pagerank_operator",
    "pagerank_series",
    "partition",
    "plan",
    "poisson_sample",
    "push_bound",
    "residual_bound",
    "series_terms",
    "spmm",
    "sum_operator",
]
