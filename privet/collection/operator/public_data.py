"""Files of what the operator of a study knows without asking anybody: a topology, and labels of some nodes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.collection.study import Study
from privet.data import Graph, read_edges
from privet.data.edge_lists import _integers, _read_table, _require_columns
from privet.errors import InvalidData

__all__ = ["read_graph", "read_labels"]


def read_graph(path: str | os.PathLike[str], study: Study) -> Graph:
    """Read the undirected graph of a file over the study's nodes.

    Args:
        path: A CSV or Parquet file with the columns source and target. An edge may be listed in one direction or in
            both; loops say nothing and are dropped.
        study: The study.
    """
    return Graph.from_edges(read_edges(path), study.nodes, self_loops="drop", duplicates="merge")


def read_labels(path: str | os.PathLike[str], study: Study) -> NDArray[np.int64]:
    """Read each node's class; -1 where the file has none.

    Args:
        path: A CSV or Parquet file with the columns node and label, a class number or one of the study's names.
        study: The study.
    """
    source = Path(path)
    table = _read_table(source)
    _require_columns(table, ["node", "label"], source.name)
    nodes = _integers(table["node"], "node", source)
    classes = _classes(table["label"], study, source)
    for name, values, count in (("node", nodes, study.nodes), ("label", classes, study.declared.classes)):
        wrong = (values < 0) | (values >= count)
        if wrong.any():
            row = int(np.argmax(wrong))
            found = f"{table[name][row].as_py()} in row {row}"
            raise InvalidData(f"column {name!r} of '{source.name}'", f"from 0 to {count - 1}", found)
    order = np.argsort(nodes, kind="stable")
    again = nodes[order][1:] == nodes[order][:-1]
    if again.any():
        row = int(order[1:][again].min())
        raise InvalidData(f"column 'node' of '{source.name}'", "different nodes", f"{nodes[row]} again in row {row}")
    labels = np.full(study.nodes, -1, dtype=np.int64)
    labels[nodes] = classes
    return labels


def _classes(column: Any, study: Study, source: Path) -> NDArray[np.int64]:
    """Return class numbers; a name that the study does not have is told by its row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(column.type) or study.class_names is None:
        return _integers(column, "label", source)
    places = pc.index_in(column, pa.array(study.class_names))
    if places.null_count:
        row = int(np.argmax(places.is_null().to_numpy()))
        expected = "one of " + ", ".join(study.class_names)
        raise InvalidData(f"column 'label' of '{source.name}'", expected, f"{column[row].as_py()} in row {row}")
    return _integers(places, "label", source)
