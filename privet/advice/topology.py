"""Topologies for advice: who is connected, and nothing that is private."""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from privet.data import KNOWN, Graph, Schema, load, read_edges, social_graph
from privet.errors import InvalidData, InvalidParameter
from privet.graph import partition

__all__ = ["Topology", "read_schema", "read_topology", "sampled", "stated_topology"]

_LEAST = 60


@dataclass(frozen=True)
class Topology:
    """A graph without features and labels.

    Attributes:
        graph: The edges.
        source: Where they are from: a name, a path or words.
        schema: The schema that was found beside them.
    """

    graph: Graph
    source: str
    schema: Schema | None = None


def read_topology(source: str, root: Path | None = None) -> Topology:
    """Read the edges of a known dataset, an edge list, an npz file or a directory; columns about people are not read.

    Args:
        source: A known name or a path.
        root: The directory of the named datasets.
    """
    path = Path(source)
    if source in KNOWN:  # published: nothing in it is private
        graph = load(source, root)
        return Topology(_enough(Graph(graph.adjacency, graph.directed)), source, graph.schema)
    if path.is_dir():
        found = [path / name for name in ("edges.csv", "edges.parquet") if (path / name).is_file()]
        if len(found) != 1:
            has = "both" if found else "neither"
            raise InvalidData(f"The directory '{path.name}' must have edges.csv or edges.parquet; it has {has}.")
        schema = read_schema(path / "schema.json") if (path / "schema.json").is_file() else None
        return Topology(_from_edges(read_edges(found[0])), source, schema)
    if path.suffix in (".csv", ".parquet"):
        return Topology(_from_edges(read_edges(path)), source)
    if path.suffix == ".npz":
        return _from_npz(path, source)
    known = ", ".join(KNOWN)
    expected = f"an edge list (.csv, .parquet), an npz file, a directory with one, or one of {known}"
    raise InvalidParameter("source", expected, source)


def stated_topology(nodes: int, degree: float, seed: int = 0) -> Topology:
    """Make a synthetic social graph of a stated size and mean degree, for edges that nobody may look at.

    It has communities of about 50, or ten mean degrees if that is more, in which four edges of five stay.
    """
    communities = max(2, int(nodes // max(50, 10 * degree)))
    graph = social_graph(nodes, classes=communities, average_degree=degree, homophily=0.8, features=0, seed=seed)
    stated = f"a synthetic graph of {nodes:,} people with {degree:g} contacts each"
    return Topology(_enough(Graph(graph.adjacency, graph.directed)), stated)


def read_schema(path: Path) -> Schema:
    """Read the declaration in a schema.json."""
    try:
        return Schema.from_json(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise InvalidData(f"The file '{path.name}' is not UTF-8 text.") from None


def sampled(graph: Graph, limit: int, seed: int = 0) -> Graph:
    """Return a region of about ``limit`` nodes with few edges to the rest; the graph itself if it is not larger.

    METIS cuts the graph into regions; the one whose mean degree is nearest to the whole graph's is taken.
    """
    if graph.num_nodes <= limit:
        return graph
    parts = partition(graph, round(graph.num_nodes / limit) + 1, seed=seed)
    inside = np.asarray(graph.adjacency.tocoo().coords)
    kept = parts[inside[0]] == parts[inside[1]]
    sizes = np.bincount(parts)
    degrees = np.bincount(parts[inside[0][kept]], minlength=len(sizes)) / np.maximum(sizes, 1)
    mean = graph.adjacency.nnz / graph.num_nodes
    eligible = (sizes > limit / 4) & (sizes <= limit)
    chosen = int(np.argmin(np.where(eligible, np.abs(degrees - mean), np.inf)))
    nodes = np.flatnonzero(parts == chosen)[:limit]
    return Graph(graph.adjacency[nodes][:, nodes], graph.directed)


def _from_edges(edges: np.ndarray) -> Graph:
    nodes = int(edges.max()) + 1 if edges.size else 0
    return _enough(Graph.from_edges(edges, nodes, self_loops="drop", duplicates="merge"))


def _from_npz(path: Path, source: str) -> Topology:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            edges, nodes = archive["edges"], int(archive["num_nodes"])
            schema = _declared(archive)
    except FileNotFoundError:
        raise InvalidParameter("source", "an existing file", os.fspath(path)) from None
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile):
        raise InvalidData(f"The file '{path.name}' is no npz archive with edges and num_nodes.") from None
    return Topology(_enough(Graph.from_edges(edges, nodes, self_loops="drop", duplicates="merge")), source, schema)


def _declared(archive: Any) -> Schema | None:
    """Read the declaration of an archive: its schema, or the ranges that it states for each feature."""
    if "schema" in archive.files:
        return Schema.from_json(str(archive["schema"]))
    if {"x_low", "x_high"} <= set(archive.files):
        return Schema.numeric(len(archive["x_low"]), archive["x_low"], archive["x_high"])
    return None


def _enough(graph: Graph) -> Graph:
    if graph.num_nodes < _LEAST or not graph.num_edges:
        found = f"{graph.num_nodes} nodes and {graph.num_edges} edges"
        raise InvalidData("graph to advise on", f"of at least {_LEAST} nodes, some of them connected", found)
    return graph
