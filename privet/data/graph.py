"""The graph that everything else works on: sparse topology with optional features, labels and splits."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from privet.data.declaring import declaration
from privet.data.schema import Schema
from privet.data.validation import (
    Features,
    check_adjacency,
    check_edges,
    check_features,
    check_labels,
    check_mask,
)
from privet.errors import InvalidData, InvalidParameter

__all__ = ["Duplicates", "Features", "Graph", "SelfLoops", "Split"]

SelfLoops = Literal["refuse", "drop", "keep"]
Duplicates = Literal["refuse", "merge"]

_REMEDY = {
    "features": "Graph.replace(features=...)",
    "schema": "from_pyg(data, schema={declared})",
    "labels": "Graph.replace(labels=...)",
    "split": "split_nodes",
}
PUBLIC = "Ranges should be public facts, which nobody has to look into the data for."


@dataclass(frozen=True, eq=False, repr=False)
class Split:
    """Disjoint boolean masks over the nodes; a node may be in none of them.

    Attributes:
        train: The nodes to fit.
        validation: The nodes to choose among models by.
        test: The nodes to score.
    """

    train: NDArray[np.bool_]
    validation: NDArray[np.bool_]
    test: NDArray[np.bool_]

    def __post_init__(self) -> None:
        length = None
        for name in ("train", "validation", "test"):
            mask = check_mask(getattr(self, name), name, length)
            length = len(mask)
            object.__setattr__(self, name, mask)
        twice = (self.train & self.validation) | (self.train & self.test) | (self.validation & self.test)
        if twice.any():
            raise InvalidData("parts of a split", "disjoint", f"node {int(np.argmax(twice))} in two of them")

    def __len__(self) -> int:
        return len(self.train)

    def __repr__(self) -> str:
        return f"Split({self.train.sum()} train, {self.validation.sum()} validation, {self.test.sum()} test)"

    def take(self, nodes: NDArray[Any]) -> Split:
        """Return the same split of the given nodes only.

        Args:
            nodes: Ids or a mask.
        """
        return Split(self.train[nodes], self.validation[nodes], self.test[nodes])


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A graph of N nodes with optional features, labels, split and schema.

    Everything is checked once, here; methods return new graphs.

    Attributes:
        adjacency: The topology as a CSR array of float32 weights (1 unless said otherwise) in sorted rows without
            duplicates; an undirected graph stores both directions of an edge.
        directed: True if an edge need not have its mirror image.
        features: One row for each node, float32, sparse (CSR) or dense.
        labels: Each node's class as int64, -1 for an unlabelled node.
        split: Training, validation and test nodes; see :func:`split_nodes`.
        schema: The declared ranges of the features and the number of classes.

    >>> graph = Graph.from_edges([[0, 1], [1, 2]], num_nodes=4)
    >>> graph.num_nodes, graph.num_edges, graph.degrees.tolist()
    (4, 2, [1, 2, 1, 0])
    >>> graph
    Graph(4 nodes, 2 edges)
    >>> graph.largest_component().num_nodes
    3
    """

    adjacency: sp.csr_array
    directed: bool = False
    features: Features | None = None
    labels: NDArray[np.int64] | None = None
    split: Split | None = None
    schema: Schema | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "adjacency", check_adjacency(self.adjacency, self.directed))
        self._check_nodes({"features", "labels", "split"})

    def __repr__(self) -> str:
        """Show sizes only, so that a private value never reaches a log or a traceback."""
        parts = [f"{self.num_nodes} nodes", f"{self.num_edges} {'directed ' * self.directed}edges"]
        parts += [] if self.features is None else [f"{self.features.shape[1]} features"]
        parts += [] if self.labels is None else ["labels"]
        parts += [] if self.split is None else [repr(self.split)]
        return f"Graph({', '.join(parts)})"

    def _check_nodes(self, names: set[str]) -> None:
        if "features" in names and self.features is not None:
            object.__setattr__(self, "features", check_features(self.features, self.num_nodes, self.schema))
        if "labels" in names and self.labels is not None:
            object.__setattr__(self, "labels", check_labels(self.labels, self.num_nodes, self.schema))
        if "split" in names and self.split is not None and len(self.split) != self.num_nodes:
            raise InvalidData("split", f"masks over {self.num_nodes} nodes", f"masks over {len(self.split)}")

    @classmethod
    def from_edges(
        cls,
        edge_index: ArrayLike,
        num_nodes: int,
        *,
        directed: bool = False,
        self_loops: SelfLoops = "refuse",
        duplicates: Duplicates = "refuse",
        **node_data: Any,
    ) -> Graph:
        """Make a graph from a list of edges.

        Args:
            edge_index: The edges' ends, [2, E]. In an undirected graph (u, v) and (v, u) are the same edge.
            num_nodes: The number of nodes; ids run from 0 to ``num_nodes - 1``.
            directed: True if an edge need not have its mirror image.
            self_loops: ``"refuse"``, ``"drop"`` or ``"keep"`` edges from a node to itself.
            duplicates: ``"refuse"`` or ``"merge"`` edges that are listed twice.
            **node_data: The fields features, labels, split and schema.
        """
        _check_choice("self_loops", self_loops, SelfLoops)
        _check_choice("duplicates", duplicates, Duplicates)
        if not isinstance(num_nodes, int | np.integer) or not 0 <= num_nodes < 1 << 40:
            raise InvalidParameter("num_nodes", "an integer of at least 0", num_nodes)
        edges = check_edges(edge_index, num_nodes)
        loops = edges[0] == edges[1]
        if self_loops == "refuse" and loops.any():
            raise InvalidData(
                f'Edge {int(np.argmax(loops))} joins a node to itself. Say self_loops="drop" to leave such edges out.'
            )
        if self_loops == "drop" and loops.any():
            edges = edges[:, ~loops]
        if not directed:
            edges = np.sort(edges, axis=0)
        ones = np.ones(edges.shape[1], np.float32)
        adjacency = sp.coo_array((ones, (edges[0], edges[1])), shape=(num_nodes, num_nodes)).tocsr()
        if adjacency.nnz < edges.shape[1] and duplicates == "refuse":
            first, again = _first_repetition(edges[0].astype(np.int64) * num_nodes + edges[1])
            kept = np.flatnonzero(~loops) if self_loops == "drop" else np.arange(edges.shape[1])
            raise InvalidData(
                f"edge {kept[again]}", 'listed once (or say duplicates="merge")', f"a repetition of edge {kept[first]}"
            )
        if not directed:
            adjacency = sp.csr_array(adjacency + adjacency.T)
        adjacency.sum_duplicates()
        adjacency.data.fill(1.0)
        return cls._trusted(adjacency, directed).replace(**node_data)

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        *,
        directed: bool = False,
        self_loops: SelfLoops = "refuse",
        **node_data: Any,
    ) -> Graph:
        """Make a graph from a square sparse matrix.

        Args:
            matrix: Positive weights; explicit zeros are no edges.
            directed: True if an edge need not have its mirror image.
            self_loops: ``"refuse"``, ``"drop"`` or ``"keep"`` edges from a node to itself.
            **node_data: The fields features, labels, split and schema.
        """
        _check_choice("self_loops", self_loops, SelfLoops)
        if not sp.issparse(matrix) or matrix.ndim != 2:
            raise InvalidData("adjacency", "a two-dimensional SciPy sparse array", type(matrix).__name__)
        adjacency = sp.csr_array(matrix, copy=True)
        adjacency.eliminate_zeros()
        loops = adjacency.diagonal() != 0
        if self_loops == "refuse" and loops.any():
            raise InvalidData(
                f'Node {int(np.argmax(loops))} has an edge to itself. Say self_loops="drop" to leave such edges out.'
            )
        if self_loops == "drop" and loops.any():
            rows, columns = adjacency.nonzero()
            adjacency.data[rows == columns] = 0
            adjacency.eliminate_zeros()
        return cls(adjacency, directed, **node_data)

    @classmethod
    def from_operator(cls, adjacency: Any, *, directed: bool = False, **node_data: Any) -> Graph:
        """Make a graph whose adjacency lies elsewhere, such as in a partitioned store, and can only be multiplied with.

        Args:
            adjacency: Anything with ``shape``, ``nnz``, ``diagonal()``, ``sum(axis=1)`` and ``@``, checked where it was
                made: :class:`privet.graph.distributed.StoredTopology`.
            directed: True if an edge need not have its mirror image.
            **node_data: The fields features, labels, split and schema.
        """
        return cls._trusted(adjacency, directed).replace(**node_data)

    def to_scipy(self) -> sp.csr_array:
        """Return a copy of the adjacency."""
        return self.adjacency.copy()

    @property
    def num_nodes(self) -> int:
        """The number of nodes, N."""
        return int(self.adjacency.shape[0])

    @cached_property
    def num_edges(self) -> int:
        """The number of edges, an undirected one counted once."""
        entries = int(self.adjacency.nnz)
        return entries if self.directed else (entries + int(np.count_nonzero(self.adjacency.diagonal()))) // 2

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """Each node's number of (out-)neighbours."""
        degrees: NDArray[np.int64] = np.diff(self.adjacency.indptr).astype(np.int64)
        return degrees

    @property
    def weighted(self) -> bool:
        """True if some edge has a weight other than 1."""
        return bool((self.adjacency.data != 1).any())

    @property
    def edge_index(self) -> NDArray[np.int64]:
        """The stored entries as [2, E] in row order; both directions of an undirected edge, as PyG does."""
        sources = np.repeat(np.arange(self.num_nodes, dtype=np.int64), self.degrees)
        return np.stack([sources, self.adjacency.indices.astype(np.int64)])

    @property
    def edges(self) -> NDArray[np.int64]:
        """Each edge once as [2, num_edges]; source <= target in an undirected graph."""
        entries = self.edge_index
        return entries if self.directed else entries[:, entries[0] <= entries[1]]

    def replace(self, **changes: Any) -> Graph:
        """Return a new graph with some fields changed; the others are not checked again.

        Args:
            **changes: The fields' new values.
        """
        unknown = changes.keys() - {field.name for field in fields(self)}
        if unknown:
            names = sorted(field.name for field in fields(self))
            raise InvalidParameter("changes", f"among {names}", sorted(unknown))
        if changes.keys() & {"adjacency", "directed"}:
            return Graph(**{**self._fields(), **changes})
        return self._with(**changes)

    def require(self, *names: str, owner: str) -> tuple[Any, ...]:
        """Return the values of some fields; an error names those that the graph lacks and says how to add them.

        Args:
            *names: Among "features", "schema", "labels" and "split".
            owner: The system or function that needs them, for the error.

        >>> Graph.from_edges([[0], [1]], 2, labels=[0, 1]).require("labels", "split", owner="LPGNN")
        Traceback (most recent call last):
        privet.errors.InvalidData: LPGNN needs labels and a split; this graph has no split. Use split_nodes.
        """
        missing = [name for name in names if getattr(self, name) is None]
        if missing:
            needed = _listed([f"a {name}" if name in ("schema", "split") else name for name in names])
            lacking, remedies = _listed([f"no {name}" for name in missing]), _listed([_REMEDY[n] for n in missing])
            declared, remark = "...", ""
            if "schema" in missing and self.features is not None:
                declared, remark = declaration(self.features, self.labels)
                remark = f" {remark} {PUBLIC}"
            remedies = remedies.format(declared=declared)
            raise InvalidData(f"{owner} needs {needed}; this graph has {lacking}. Use {remedies}.{remark}")
        return tuple(getattr(self, name) for name in names)

    def subgraph(self, nodes: ArrayLike) -> Graph:
        """Return the graph of some nodes and the edges among them.

        Args:
            nodes: Ids, whose order is the new numbering, or a boolean mask.
        """
        chosen = np.asarray(nodes)
        if chosen.dtype == np.bool_:
            chosen = np.flatnonzero(check_mask(chosen, "nodes", self.num_nodes))
        if chosen.size == 0:
            chosen = chosen.astype(np.int64)
        if chosen.ndim != 1 or not np.issubdtype(chosen.dtype, np.integer):
            raise InvalidData("nodes of a subgraph", "ids or a boolean mask", f"{chosen.ndim}-d {chosen.dtype}")
        outside = (chosen < 0) | (chosen >= self.num_nodes)
        if outside.any():
            place = int(np.argmax(outside))
            raise InvalidData(f"Node {place} of a subgraph must be an id from 0 to {self.num_nodes - 1}.")
        if np.bincount(chosen, minlength=1).max() > 1:
            first, again = _first_repetition(chosen)
            raise InvalidData("nodes of a subgraph", "distinct", f"the same id at positions {first} and {again}")
        adjacency = sp.csr_array(self.adjacency[chosen][:, chosen])
        adjacency.sort_indices()
        return self._trusted(adjacency, self.directed)._with(
            features=None if self.features is None else self.features[chosen],
            labels=None if self.labels is None else self.labels[chosen],
            split=None if self.split is None else self.split.take(chosen),
            schema=self.schema,
        )

    def largest_component(self) -> Graph:
        """Return the (weakly) connected component with the most nodes; the one with the lowest id if several have."""
        _, component = sp.csgraph.connected_components(self.adjacency, connection="weak")
        sizes = np.bincount(component, minlength=1)
        return self.subgraph(component == np.argmax(sizes))

    @classmethod
    def _trusted(cls, adjacency: sp.csr_array, directed: bool) -> Graph:
        """Make a bare graph whose adjacency is canonical by construction, so that checking it is wasted time."""
        graph = object.__new__(cls)
        for field in fields(cls):
            object.__setattr__(graph, field.name, None)
        object.__setattr__(graph, "adjacency", adjacency)
        object.__setattr__(graph, "directed", directed)
        return graph

    def _with(self, **changes: Any) -> Graph:
        """Return a new graph on the same topology with other node data, which is checked."""
        graph = self._trusted(self.adjacency, self.directed)
        for name, value in {**self._fields(), **changes}.items():
            object.__setattr__(graph, name, value)
        graph._check_nodes({"features", "labels", "split"} if "schema" in changes else set(changes))
        return graph

    def _fields(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def _listed(words: list[str]) -> str:
    return " and ".join(words) if len(words) < 3 else f"{', '.join(words[:-1])} and {words[-1]}"


def _check_choice(name: str, value: object, choices: Any) -> None:
    if value not in get_args(choices):
        raise InvalidParameter(name, f"one of {list(get_args(choices))}", value)


def _first_repetition(keys: NDArray[Any]) -> tuple[int, int]:
    """Find the first key that occurred before: the position of its first occurrence, and its own."""
    _, firsts, inverse = np.unique(keys, return_index=True, return_inverse=True)
    again = int(np.argmax(firsts[inverse] != np.arange(len(keys))))
    return int(firsts[inverse[again]]), again
