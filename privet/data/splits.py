"""Seeded splits of nodes and of edges; the same seed gives the same split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data.graph import Graph, Split
from privet.data.validation import check_mask
from privet.errors import InvalidData, InvalidParameter, one_line

__all__ = ["EdgeSplit", "Links", "label_rate", "split_edges", "split_nodes"]


def split_nodes(graph: Any, train: float = 0.5, validation: float = 0.25, *, seed: int) -> Split:
    """Split the nodes at random, 50/25/25 by default.

    The split depends on the number of nodes and the seed alone. A split that left unlabelled nodes out would tell who
    has a label, and one person's label would move many others. A node without a label stays in its part, where it is
    neither trained on nor scored.

    Args:
        graph: The graph, a PyTorch Geometric ``Data`` or anything else with ``num_nodes``, or the number of nodes.
        train: The share of nodes for training.
        validation: The share of nodes to choose among models by; the rest are test nodes.
        seed: The same seed gives the same split.
    """
    _check_fractions(train=train, validation=validation)
    count = getattr(graph, "num_nodes", graph)
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
        raise InvalidParameter(f"split_nodes takes a graph or a number of nodes, not {one_line(type(graph).__name__)}.")
    count = int(count)
    nodes = np.random.default_rng(seed).permutation(np.arange(count))
    parts = np.split(nodes, _cuts(count, train, validation))
    return Split(*(_mask(count, part) for part in parts))


def label_rate(split: Split, rate: float, *, seed: int) -> Split:
    """Keep a share of a split's training nodes; the others are then in no part.

    Args:
        split: The split to thin out.
        rate: The share of training nodes to keep.
        seed: The same seed keeps the same nodes.
    """
    _check_fractions(rate=rate)
    train = np.flatnonzero(split.train)
    kept = np.random.default_rng(seed).permutation(train)[: round(rate * len(train))]
    return Split(_mask(len(split), kept), split.validation, split.test)


@dataclass(frozen=True, eq=False)
class Links:
    """Pairs of nodes to tell apart.

    Attributes:
        edges: The pairs that are edges, [2, n].
        non_edges: As many pairs that are not, [2, n].
    """

    edges: NDArray[np.int64]
    non_edges: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EdgeSplit:
    """A link-prediction task, in which no pair is in two parts.

    Attributes:
        graph: The graph with its training edges only.
        train: Pairs to fit.
        validation: Pairs to choose among models by.
        test: Pairs to score.
    """

    graph: Graph
    train: Links
    validation: Links
    test: Links


def split_edges(
    graph: Graph,
    validation: float = 0.05,
    test: float = 0.10,
    *,
    seed: int,
    nodes: NDArray[np.bool_] | None = None,
) -> EdgeSplit:
    """Split the edges at random, 85/5/10 by default, and draw equally many pairs that are no edge for each part.

    Non-edges are drawn uniformly among all pairs of different nodes. Self-loops are not split and stay.

    Args:
        validation: The share of edges to choose among models by.
        test: The share of edges to score; the rest are for training.
        seed: The same seed gives the same split.
        nodes: A mask of nodes, for example those that nothing is promised to: edges and non-edges among them are split,
            all others stay in the graph and are in no part (default: all nodes).
    """
    _check_fractions(validation=validation, test=test)
    if nodes is not None:
        return _split_among(graph, check_mask(nodes, "nodes", graph.num_nodes), validation, test, seed)
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


def _split_among(graph: Graph, nodes: NDArray[np.bool_], validation: float, test: float, seed: int) -> EdgeSplit:
    """Split the edges among some nodes, as if there were no others."""
    numbers = np.flatnonzero(nodes)
    split = split_edges(
        Graph(sp.csr_array(graph.adjacency[nodes][:, nodes]), graph.directed), validation, test, seed=seed
    )
    parts = [
        Links(numbers[part.edges], numbers[part.non_edges]) for part in (split.train, split.validation, split.test)
    ]
    held_out = np.concatenate([part.edges for part in parts[1:]], axis=1)
    return EdgeSplit(_without_edges(graph, held_out), *parts)


def _without_edges(graph: Graph, edges: NDArray[np.int64]) -> Graph:
    if not graph.directed:
        edges = np.concatenate([edges, edges[::-1]], axis=1)
    removed = sp.csr_array((np.ones(edges.shape[1], np.float32), (edges[0], edges[1])), shape=graph.adjacency.shape)
    adjacency = sp.csr_array(graph.adjacency - graph.adjacency.multiply(removed))
    adjacency.eliminate_zeros()
    return graph.replace(adjacency=adjacency)


def _draw_non_edges(graph: Graph, edges: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw as many different non-edges as edges; a pair (u, v) is coded u N + v, with u < v if undirected.

    Draws are accepted in the order they come unless they are an edge or came before, which is uniform. Where more
    than half of the pairs would be rejected the few that remain are enumerated instead.
    """
    nodes, needed = graph.num_nodes, edges.shape[1]
    pairs = nodes * (nodes - 1) if graph.directed else nodes * (nodes - 1) // 2
    if pairs - needed < needed:
        raise InvalidData(
            f"split_edges needs as many pairs without an edge as edges; this graph has {needed} edges among {pairs} "
            "pairs of nodes."
        )
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
    """Find where the second and the third part begin; sizes are within one of the fractions and sum to ``count``."""
    return [round(first * count), round((first + second) * count)]


def _mask(count: int, nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
    mask = np.zeros(count, np.bool_)
    mask[nodes] = True
    return mask


def _check_fractions(**fractions: float) -> None:
    for name, value in fractions.items():
        if not 0 <= value <= 1:
            raise InvalidParameter(name, "a fraction from 0 to 1", value)
    if sum(fractions.values()) > 1 + 1e-9:
        raise InvalidParameter(", ".join(fractions), "fractions whose sum is at most 1", sum(fractions.values()))
