"""Sparse linear algebra over one graph: operators, lazy features, propagation, partition."""

from privet.data.graph import Graph
from privet.data.interop import from_networkx, from_pyg, load_pyg, to_networkx, to_pyg
from privet.graph.csr import spmm
from privet.graph.filter import Filter
from privet.graph.lazy import LazyFeatures
from privet.graph.operators import Operator, gcn_operator, mean_operator, pagerank_operator, sum_operator
from privet.graph.partition import partition
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
    "Graph",
    "LazyFeatures",
    "Operator",
    "Plan",
    "SubgraphBatch",
    "SubgraphSampler",
    "backward_push",
    "few_neighbours",
    "from_networkx",
    "from_pyg",
    "gcn_operator",
    "kprop",
    "load_pyg",
    "mean_operator",
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
    "to_networkx",
    "to_pyg",
]
