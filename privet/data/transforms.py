"""Public transforms of private features: each node's new row depends on its own old row and nothing else."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from privet.data.graph import Graph
from privet.data.schema import Schema
from privet.errors import InvalidParameter

__all__ = ["group_columns", "public_projection"]


def group_columns(graph: Graph, size: int) -> Graph:
    """Replace each group of consecutive columns by their OR: z[i, g] = 1 if some x[i, j] != 0 with j // size = g.

    The new schema has ceil(d / size) features of two categories (RGNN, to reduce sparsity).

    Args:
        graph: A graph with features and a schema.
        size: The number of columns in a group; the last group may be smaller. 1 declares 0/1 columns as categories.
    """
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
        raise InvalidParameter("size", "an integer of at least 1", size)
    features, old = graph.require("features", "schema", owner="group_columns")
    columns = sp.csr_array(features, copy=True)
    columns.eliminate_zeros()
    groups = -(-columns.shape[1] // size)
    grouped = sp.csr_array((columns.data, columns.indices // size, columns.indptr), shape=(columns.shape[0], groups))
    grouped.sum_duplicates()
    grouped.data.fill(1.0)
    schema = Schema.categorical([2] * groups, classes=old.classes, private_edges=old.private_edges)
    return graph.replace(features=grouped, schema=schema)


def public_projection(graph: Graph, dimension: int, *, seed: int = 0) -> Graph:
    """Project the features to z = x R / sqrt(dimension), R a matrix of signs that everybody can make from ``seed``.

    The new ranges follow from the declared old ones: column j lies between the sums of the smallest and of the largest
    R[i, j] x[i], whatever anybody's row is.

    Args:
        graph: A graph with features and a schema.
        dimension: The number of new columns.
        seed: The public seed of R.
    """
    if isinstance(dimension, bool) or not isinstance(dimension, int | np.integer) or dimension < 1:
        raise InvalidParameter("dimension", "an integer of at least 1", dimension)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidParameter("seed", "an integer of at least 0", seed)
    features, old = graph.require("features", "schema", owner="public_projection")
    words = np.random.PCG64(int(seed)).random_raw(old.dimension * dimension).reshape(old.dimension, dimension)
    signs = np.where(words >> np.uint64(63), 1.0, -1.0) / np.sqrt(dimension)
    centre, reach = (old.low + old.high) / 2 @ signs, (old.high - old.low) / 2 @ np.abs(signs)
    projected = np.asarray(features @ signs.astype(np.float32), dtype=np.float32)
    margin = 1e-6 + 1e-5 * (np.abs(centre) + reach)  # of rounding to single precision
    schema = Schema.numeric(
        int(dimension), centre - reach - margin, centre + reach + margin, classes=old.classes,
        private_edges=old.private_edges,
    )  # fmt: skip
    return graph.replace(features=projected, schema=schema)
