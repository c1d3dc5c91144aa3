"""Seeded splits of nodes and of edges; the same seed gives the same split."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data.graph import Graph, Split
from privet.errors import InvalidData, InvalidParameter

__all__ = ["EdgeSplit", "Links", "label_rate", "split_edges", "split_nodes"]


def split_nodes(graph: Graph | int, train: float = 0.5, validation: float = 0.25, *, seed: int) -> Split:
    """A random split by fractions, the rest for testing: 50/25/25, or 80/20 with ``train=0.8, validation=0``.

    Of a graph with labels only the labelled nodes are split; the others are in no part.
    """
    _check_fractions("split_nodes", train=train, validation=validation)
    count, labels = (graph.num_nodes, graph.labels) if isinstance(graph, Graph) else (graph, None)
    nodes = np.arange(count) if labels is None else np.flatnonzero(labels >= 0)
    nodes = np.random.default_rng(seed).permutation(nodes)
    parts = np.split(nodes, _cuts(len(nodes), train, validation))
    return Split(*(_mask(count, part) for part in parts))


def label_rate(split: Split, rate: float, *, seed: int) -> Split:
    """The same split with only a fraction ``rate`` of its training nodes; the others are in no part."""
    _check_fractions("label_rate", rate=rate)
    train = np.flatnonzero(split.train)
    kept = np.random.default_rng(seed).permutation(train)[: round(rate * len(train))]
    return Split(_mask(len(split), kept), split.validation, split.test)


@dataclass(frozen=True, eq=False)
class Links:
    """Pairs of nodes to score: ``edges`` and as many ``non_edges``, both [2, n]."""

    edges: NDArray[np.int64]
    non_edges: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EdgeSplit:
    """A link-prediction task: ``graph`` has the training edges only, and no pair is in two parts."""

    graph: Graph
    train: Links
    validation: Links
    test: Links


def split_edges(graph: Graph, validation: float = 0.05, test: float = 0.10, *, seed: int) -> EdgeSplit:
    """A random split of the edges, 85/5/10 by default, each part with equally many pairs that are no edge.

    Non-edges are drawn uniformly among all pairs of different nodes. Self-loops are not split and stay.
    """
    _check_fractions("split_edges", validation=validation, test=test)
    rng = np.random.default_rng(seed)
    edges = graph.edges
    edges = edges[:, edges[0] != edges[1]]
    order = rng.permutation(edges.shape[1])
    cuts = _cuts(len(order), validation, test)
    non_edges = _draw_non_edges(graph, edges, rng)
    held_validation, held_test, train = (
        Links(edges[:, chosen], pairs)
        for chosen, pairs in zip(np.split(order, cuts), np.split(non_edges, cuts, axis=1), strict=True)
    )
    held_out = np.concatenate([held_validation.edges, held_test.edges], axis=1)
    return EdgeSplit(_without_edges(graph, held_out), train, held_validation, held_test)


def _without_edges(graph: Graph, edges: NDArray[np.int64]) -> Graph:
    if not graph.directed:
        edges = np.concatenate([edges, edges[::-1]], axis=1)
    removed = sp.csr_array((np.ones(edges.shape[1], np.float32), (edges[0], edges[1])), shape=graph.adjacency.shape)
    adjacency = sp.csr_array(graph.adjacency - graph.adjacency.multiply(removed))
    adjacency.eliminate_zeros()
    return graph.replace(adjacency=adjacency)


def _draw_non_edges(graph: Graph, edges: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """As many different non-edges as edges, in random order; a pair (u, v) is coded u N + v, with u < v if undirected.

    Draws are accepted in the order they come unless they are an edge or came before, which is uniform. Where more
    than half of the pairs would be rejected the few that remain are enumerated instead.
    """
    nodes, needed = graph.num_nodes, edges.shape[1]
    pairs = nodes * (nodes - 1) if graph.directed else nodes * (nodes - 1) // 2
    if pairs - needed < needed:
        found = f"{needed} edges among {pairs} pairs"
        raise InvalidData("graph of split_edges", "sparse enough for as many non-edges as edges", found)
    taken = np.sort(edges[0] * nodes + edges[1])
    if pairs < 4 * needed:
        codes = np.arange(nodes * nodes)
        source, target = np.divmod(codes, nodes)
        codes = np.setdiff1d(codes[source != target if graph.directed else source < target], taken, assume_unique=True)
        accepted = rng.permutation(codes)[:needed]
    else:
        accepted = np.zeros(0, np.int64)
        while len(accepted) < needed:
            drawn = rng.integers(nodes, size=(2, (needed - len(accepted)) * 9 // 8 + 16))
            drawn = drawn[:, drawn[0] != drawn[1]]
            if not graph.directed:
                drawn.sort(axis=0)
            codes = np.concatenate([accepted, drawn[0] * nodes + drawn[1]])
            codes, first = np.unique(codes, return_index=True)
            free = ~_contains(taken, codes)
            accepted = codes[free][np.argsort(first[free])]
        accepted = accepted[:needed]
    return np.stack(np.divmod(accepted, max(nodes, 1)))


def _contains(ordered: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    if not len(ordered):
        return np.zeros(len(keys), np.bool_)
    places = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
    return np.asarray(ordered[places] == keys)


def _cuts(count: int, first: float, second: float) -> list[int]:
    """Where the second and the third part begin: sizes within one of the fractions, summing to ``count``."""
    return [round(first * count), round((first + second) * count)]


def _mask(count: int, nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
    mask = np.zeros(count, np.bool_)
    mask[nodes] = True
    return mask


def _check_fractions(owner: str, **fractions: float) -> None:
    for name, value in fractions.items():
        if not 0 <= value <= 1:
            raise InvalidParameter(name, owner, "a fraction from 0 to 1", value)
    if sum(fractions.values()) > 1 + 1e-9:
        raise InvalidParameter(", ".join(fractions), owner, "fractions whose sum is at most 1", sum(fractions.values()))
