"""Graphs whose topology a cluster computes on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from privet.data import Graph, write_edges
from privet.data.store import GraphStore, build_store
from privet.errors import InvalidData
from privet.graph.distributed.cluster import Cluster, connect
from privet.graph.distributed.graph import ClusterGraph
from privet.graph.distributed.temporary import owned_directory
from privet.graph.distributed.topology import StoredTopology

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Place", "hosting", "stored_graph"]

Place: TypeAlias = Callable[[Graph], Graph]
"""Takes a graph and returns the same graph with its topology elsewhere, or as it is."""

_PARTITIONS = 2  # for each worker, so that one that is ahead has something to do


@contextmanager
def hosting(cluster: str | Cluster | None) -> Iterator[Place]:
    """Give a function that moves a graph's topology to a cluster; what it made is removed in the end.

    The edges are written to a new store in the directory for temporary files (``TMPDIR``), which workers on other
    machines must reach under the same path. Features, labels and the split stay in this process.

    Args:
        cluster: As for :func:`~privet.graph.distributed.connect`; None leaves graphs as they are.
    """
    if cluster is None:
        yield lambda graph: graph
        return
    with ExitStack() as opened:
        client = opened.enter_context(connect(cluster))
        folder = opened.enter_context(owned_directory())
        numbers = iter(range(1 << 30))

        def place(graph: Graph) -> Graph:
            if isinstance(graph.adjacency, StoredTopology) or not graph.num_edges:
                return graph
            own = folder / f"{next(numbers):04d}"
            own.mkdir()
            store = _store_of(graph, own, _PARTITIONS * max(1, len(client.scheduler_info()["workers"])), client)
            hosted = opened.enter_context(ClusterGraph(store, client, own))
            data = {name: getattr(graph, name) for name in ("features", "labels", "split", "schema")}
            return Graph.from_operator(StoredTopology(hosted), directed=graph.directed, **data)

        yield place


@contextmanager
def stored_graph(path: str | os.PathLike[str], cluster: str | Cluster | None) -> Iterator[Graph]:
    """Give the topology of a store as a graph; no process ever loads it whole.

    Args:
        path: The store's directory.
        cluster: As for :func:`hosting`; None computes in this process, partition by partition.
    """
    store = GraphStore.open(path)
    with ExitStack() as opened:
        client = None if cluster is None else opened.enter_context(connect(cluster))
        hosted = opened.enter_context(ClusterGraph(store, client, opened.enter_context(owned_directory())))
        yield Graph.from_operator(StoredTopology(hosted), directed=store.manifest.directed)


def _store_of(graph: Graph, folder: Path, partitions: int, client: Client) -> GraphStore:
    if graph.weighted:
        raise InvalidData("A store keeps no weights of edges, and this graph has some: run it without a cluster.")
    edges = folder / "edges.parquet"
    write_edges(edges, graph.edges)
    nodes = graph.num_nodes
    return build_store(
        edges,
        folder / "store",
        nodes=nodes,
        partitions=max(1, min(partitions, nodes)),
        directed=graph.directed,
        self_loops="keep",
        client=client,
    )
