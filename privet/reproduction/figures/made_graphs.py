"""Graphs that a study makes up where it needs no data: only their sizes and schemas matter."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from privet.data import KNOWN, Graph, Schema

__all__ = ["MADE"]


def _empty(nodes: int, schema: Schema) -> Graph:
    return Graph.from_edges(np.empty((2, 0), dtype=np.int64), nodes, schema=schema)


MADE: dict[str, Callable[[], Graph]] = {
    "one-feature": lambda: _empty(1, Schema.numeric(1, -1.0, 1.0, classes=2)),
    "random-graph": lambda: _empty(100, Schema.numeric(32, -4.0, 4.0, classes=10)),
    "eight-classes": lambda: _empty(1, Schema.numeric(1, 0.0, 1.0, classes=8)),
    "facebook-size": lambda: _empty(KNOWN["facebook"].nodes, Schema.numeric(1, -1.0, 1.0, classes=4)),
}
"""By the name that stands in a table's column of datasets."""
