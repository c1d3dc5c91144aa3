"""The files that a study names: its people, and what its operator knows without asking (topology, some labels)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from privet.collection.study.directory import Directory
from privet.collection.study.study_file import StudyFile
from privet.collection.study.toml_text import KeyPath
from privet.data import Graph, read_edges
from privet.data.edge_lists import _coded, _integers, _read_table, _require_columns
from privet.data.population import Population
from privet.errors import InvalidData, PrivetError

__all__ = ["NamedFiles", "read_graph", "read_labels", "read_nodes"]


_T = TypeVar("_T")


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
    """Read the ids of a CSV or Parquet file with the column node."""
    source = Path(path)
    table = _read_table(source)
    _require_columns(table, ["node"], source.name)
    return _integers(table["node"], "node", source)


class NamedFiles:
    """The files that a study's file names, and what is wrong with them."""

    def __init__(self, file: StudyFile) -> None:
        self.file, self.problems = file, list[tuple[KeyPath, str]]()
        people = file.declaration.people
        self.directory = self.read(("people", "directory"), people.directory, Directory.read)
        counted = 2 if self.directory is None else len(self.directory)
        self.nodes = people.nodes or counted
        if self.directory is not None and counted != self.nodes:
            sentence = f"names {counted:,} participants, and people.nodes says {self.nodes:,}."
            self.problems.append((("people", "directory"), sentence))

    def read(self, key: KeyPath, name: str | None, reader: Callable[[Path], _T]) -> _T | None:
        """Read a file if it is named; a problem is remembered and told later."""
        if name is None:
            return None
        try:
            return reader(self.file.beside(name))
        except PrivetError as error:
            self.problems.append((key, f"cannot be used. {error}"))
            return None

    def people(self, key: str, given: float | str | None, order: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Return the people who are named: a share of all, drawn from an order, or those of a file."""
        if isinstance(given, str):
            return self.read(("people", key), given, self._listed)
        return None if given is None else np.sort(order[: max(1, round(given * self.nodes))])

    def _listed(self, path: Path) -> NDArray[np.int64]:
        found = read_nodes(path)
        if not len(found) or found.min() < 0 or found.max() >= self.nodes:
            raise InvalidData(f"The nodes in {path.name} must be from 0 to {self.nodes - 1}, at least one.")
        return np.unique(found)
