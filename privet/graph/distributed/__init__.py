"""Propagation over a graph on disk, by the workers of a Dask cluster, within each worker's memory.

The names and the meaning are those of :mod:`privet.graph`; the graph is a :class:`privet.data.store.GraphStore` and the
columns lie in files, one for each partition::

    from privet.data.store import GraphStore
    from privet.graph.distributed import ClusterGraph, connect, gcn_operator, kprop

    if __name__ == "__main__":                      # workers are processes that import this file
        with connect("local:2:1.5GiB") as client, ClusterGraph(GraphStore.open("store"), client) as graph:
            x = graph.columns(array)                # one row for each id; or graph.map(function, width=16)
            y = kprop(x, gcn_operator(graph, self_loops=False), hops=4)
            y.block(7)                              # the rows of partition 7, in its order; y.numpy() for all by id

A hop is one task for each partition. It reads the partition's own rows and exactly its halo's rows of the others, all
as the hop before left them, multiplies, and puts its rows in place by a rename. So tasks can run on any worker, in any
order and twice: a killed worker delays a hop and cannot change it. Workers need the store and the scratch directory
under the same paths: on one machine any directory, on several a shared file system.
"""

from privet.graph.distributed.cluster import connect
from privet.graph.distributed.columns import Columns
from privet.graph.distributed.graph import ClusterGraph
from privet.graph.distributed.hosting import Place, hosting, stored_graph
from privet.graph.distributed.operators import (
    ClusterOperator,
    gcn_operator,
    mean_operator,
    pagerank_operator,
    sum_operator,
)
from privet.graph.distributed.propagation import kprop, pagerank_series, polynomial
from privet.graph.distributed.topology import StoredTopology

__all__ = [
    "ClusterGraph",
    "ClusterOperator",
    "Columns",
    "Place",
    "StoredTopology",
    "connect",
    "gcn_operator",
    "hosting",
    "kprop",
    "mean_operator",
    "pagerank_operator",
    "pagerank_series",
    "polynomial",
    "stored_graph",
    "sum_operator",
]
