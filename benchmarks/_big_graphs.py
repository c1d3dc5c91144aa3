"""Edge lists larger than one wants in memory, drawn and written block by block."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

COMMUNITY, OUTSIDE = 1000, 0.05  # people of a community; share of edges that lead anywhere
_BLOCK = 1_000_000  # nodes whose edges are drawn at a time

Kind = Literal["community", "random"]


def write_edges(
    path: Path, kind: Kind, nodes: int, degree: int, seed: int, order: NDArray[np.int64] | None = None
) -> None:
    """Write ``nodes * degree / 2`` random edges as Parquet; a few are drawn twice.

    In a community graph ids follow communities of 1,000 people, within which 95 % of the edges lie; the others join
    any two people. In a random graph all edges do.

    Args:
        path: The file.
        kind: The kind of graph.
        nodes: The number of nodes.
        degree: The average number of neighbours.
        seed: The same seed gives the same edges.
        order: New ids of the nodes, if they are not to follow the communities.
    """
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(seed)
    schema = pa.schema([("source", pa.int32()), ("target", pa.int32())])
    with parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for first in range(0, nodes, _BLOCK):
            last = min(first + _BLOCK, nodes)
            count = (last - first) * degree // 2
            sources = rng.integers(first, last, size=count)
            anywhere = rng.integers(nodes, size=count)
            if kind == "community":
                start = sources // COMMUNITY * COMMUNITY
                size = np.minimum(start + COMMUNITY, nodes) - start
                near = start + (rng.random(count) * size).astype(np.int64)
                targets = np.where(rng.random(count) < OUTSIDE, anywhere, near)
            else:
                targets = anywhere
            kept = sources != targets
            ends = [sources[kept], targets[kept]]
            if order is not None:
                ends = [order[end] for end in ends]
            writer.write_table(pa.table([end.astype(np.int32) for end in ends], schema=schema), row_group_size=_BLOCK)
