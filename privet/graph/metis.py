"""Balanced parts of a graph with few edges between them, by METIS, for graphs that fit into memory once."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pymetis
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data.store.edge_pieces import cut_into_pieces, read_piece
from privet.errors import InvalidParameter
from privet.graph.operators import GraphLike, adjacency_of

__all__ = ["metis_parts", "partition"]

__all__ = ["metis_parts"]
_BYTES_PER_EDGE = 250  # peak; 232 and 249 were measured on community graphs of 2 and 0.5 million edges
_PIECE, _ROWS = 1 << 26, 1 << 22


def partition(graph: GraphLike, parts: int, *, seed: int | None = 0) -> NDArray[np.int64]:
    """Return the part, 0 .. parts - 1, of each node.

    Directions, weights and self-loops are left aside. METIS balances the parts' sizes but may leave a part
    empty when there are nearly as many parts as nodes.

    Args:
        graph: A graph or a square sparse adjacency matrix.
        parts: The number of parts.
        seed: The same seed gives the same parts; None draws a new one.
    """
    adjacency = adjacency_of(graph)
    nodes = int(adjacency.shape[0])
    if isinstance(parts, bool) or not isinstance(parts, int | np.integer) or not 1 <= parts <= nodes:
        expected = f"an integer from 1 to the number of nodes, {nodes}"
        raise InvalidParameter("parts", expected, parts)
    if parts == 1:
        return np.zeros(nodes, dtype=np.int64)
    pattern = sp.csr_array((np.ones(adjacency.nnz, np.int8), adjacency.indices, adjacency.indptr), adjacency.shape)
    either = sp.coo_array(pattern + pattern.T)
    between = either.row != either.col
    pairs = (either.row[between], either.col[between])
    undirected = sp.csr_array((np.ones(int(between.sum()), np.int8), pairs), shape=adjacency.shape)
    neighbours = pymetis.CSRAdjacency(undirected.indptr.astype(np.int64), undirected.indices.astype(np.int64))
    _, membership = pymetis.part_graph(
        int(parts), neighbours, options=pymetis.Options(seed=secrets.randbits(31) if seed is None else int(seed))
    )
    return np.asarray(membership, dtype=np.int64)


def metis_parts(edges: Sequence[str | os.PathLike[str]], nodes: int, partitions: int) -> NDArray[np.int64]:
    """Return the partition of each node, for ``build_store(by="metis", parts=...)``.

    Args:
        edges: ``.csv`` or ``.parquet`` files with the columns source and target.
        nodes: The number of nodes.
        partitions: The number of partitions.
    """
    pieces = [piece for path in edges for piece in cut_into_pieces(Path(path), _PIECE)]
    blocks: list[NDArray[np.int64]] = []
    count = 0
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for piece in pieces:
        for block in read_piece(piece, nodes, "drop", _ROWS):
            blocks.append(block)
            count += block.shape[1]
            if count * _BYTES_PER_EDGE > free:
                raise InvalidParameter(
                    f"METIS needs the graph in memory, and more than {count} edges do not fit here. Use 'hash', or "
                    "'id' if ids follow communities."
                )
    ends = np.concatenate(blocks, axis=1) if blocks else np.zeros((2, 0), np.int64)
    ones = np.ones(ends.shape[1], np.int8)
    return partition(sp.csr_array(sp.coo_array((ones, (ends[0], ends[1])), shape=(nodes, nodes))), partitions)
