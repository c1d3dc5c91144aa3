"""Public transforms of private features: each node's new row depends on its own old row and nothing else."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from privet.data.graph import Graph
from privet.data.schema import Schema
from privet.errors import InvalidData, InvalidParameter

__all__ = ["group_columns"]


def group_columns(graph: Graph, size: int) -> Graph:
    """Features that are the OR of ``size`` consecutive columns: z[i, g] = 1 if some x[i, j] != 0 with j // size = g.

    The last group may be smaller. The new schema has ceil(d / size) features of two categories (RGNN, to reduce
    sparsity).
    """
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
        raise InvalidParameter("size", "group_columns", "an integer of at least 1", size)
    if graph.features is None or graph.schema is None:
        raise InvalidData("graph of group_columns", "one with features and a schema", "one without")
    columns = sp.csr_array(graph.features, copy=True)
    columns.eliminate_zeros()
    groups = -(-columns.shape[1] // size)
    grouped = sp.csr_array((columns.data, columns.indices // size, columns.indptr), shape=(columns.shape[0], groups))
    grouped.sum_duplicates()
    grouped.data.fill(1.0)
    old = graph.schema
    schema = Schema.categorical([2] * groups, classes=old.classes, private_edges=old.private_edges)
    return graph.replace(features=grouped, schema=schema)
