"""Files of what the operator of a study knows without asking anybody: a topology, and labels of some nodes."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from privet.data import Graph, read_edges
from privet.data.edge_lists import _coded, _integers, _read_table, _require_columns
from privet.data.population import Population
from privet.errors import InvalidData

__all__ = ["read_graph", "read_labels", "read_nodes"]


def read_graph(path: str | os.PathLike[str], people: Population) -> Graph:
    """Read the undirected graph of a file over a study's people.

    Args:
        path: A CSV or Parquet file with the columns source and target. An edge may be listed in one direction or in
            both; loops say nothing and are dropped.
        people: The public facts about the people: how many they are, and their classes.
    """
    return Graph.from_edges(read_edges(path), people.num_nodes, self_loops="drop", duplicates="merge")


def read_labels(path: str | os.PathLike[str], people: Population) -> NDArray[np.int64]:
    """Read each node's class; -1 where the file has none.

    Args:
        path: A CSV or Parquet file with the columns node and label, a class number or one of the schema's names.
        people: The public facts about the people: how many they are, and their classes.
    """
    source = Path(path)
    table = _read_table(source)
    _require_columns(table, ["node", "label"], source.name)
    nodes = _integers(table["node"], "node", source)
    classes = _integers(_coded(table["label"], people.schema.class_names, "label", source), "label", source)
    for name, values, count in (("node", nodes, people.num_nodes), ("label", classes, people.classes)):
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
    labels = np.full(people.num_nodes, -1, dtype=np.int64)
    labels[nodes] = classes
    return labels


def read_nodes(path: str | os.PathLike[str]) -> NDArray[np.int64]:
    """Read the ids of a CSV or Parquet file with the column node.

    Args:
        path: The file.
    """
    source = Path(path)
    table = _read_table(source)
    _require_columns(table, ["node"], source.name)
    return _integers(table["node"], "node", source)
