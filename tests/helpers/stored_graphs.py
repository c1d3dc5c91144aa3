"""Random graphs in stores, beside the same graphs in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from privet.data import write_edges
from privet.data.store import GraphStore, build_store


def random_pattern(seed: int, nodes: int, *, directed: bool = False, loops: bool = True) -> sp.csr_array:
    """A random pattern of ones with isolated nodes."""
    rng = np.random.default_rng(seed)
    present = rng.random((nodes, nodes)) < rng.choice([0.0, 0.05, 0.3])
    if not directed:
        present = np.triu(present) | np.triu(present).T
    np.fill_diagonal(present, present.diagonal() & loops)
    quiet = rng.random(nodes) < 0.2
    present[quiet] = present[:, quiet] = False
    return sp.csr_array(present.astype(np.float32))


def edges_of(pattern: sp.csr_array, *, directed: bool = False, seed: int = 0) -> np.ndarray:
    """The edges, [2, E], in random order; of an undirected one each once and either way round."""
    rng = np.random.default_rng(seed)
    kept = pattern if directed else sp.triu(pattern)
    edges = np.stack(sp.coo_array(kept).coords).astype(np.int64)
    edges = edges[:, rng.permutation(edges.shape[1])]
    if not directed:
        turned = rng.random(edges.shape[1]) < 0.5
        edges[:, turned] = edges[::-1, turned]
    return edges


def stored(folder: Path, pattern: sp.csr_array, partitions: int, *, directed: bool = False, **more: Any) -> GraphStore:
    """A store of a pattern."""
    edges = folder / "edges.parquet"
    write_edges(edges, edges_of(pattern, directed=directed))
    nodes = pattern.shape[0]
    options = {"nodes": nodes, "partitions": min(partitions, nodes), "directed": directed, "self_loops": "keep", **more}
    return build_store(edges, folder / "store", **options)
