"""Synthetic people on a given topology: classes that follow its communities, features that follow the classes.

Only the topology, the schema and counts are read. How strongly classes follow communities, and features follow
classes, is not known before a collection, so advice looks at a whole range of worlds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet.data import Categories, Graph, Schema, split_nodes
from privet.graph import partition

__all__ = ["HOMOPHILY", "SIGNAL", "World", "edge_homophily", "planted_features", "planted_labels", "worlds"]

HOMOPHILY = {"low": 0.5, "medium": 0.75, "high": 0.95}
"""The share of people who have their community's class; the others have a random one."""

SIGNAL = {"weak": 0.1, "medium": 0.3, "strong": 0.7}
"""The share of a person's features that their class decides; the others are random."""

_COMMUNITY = 50  # people at least; a community is larger than anybody's circle


@dataclass(frozen=True)
class World:
    """One setting of what nobody knows before a collection.

    Attributes:
        homophily: A key of :data:`HOMOPHILY`.
        signal: A key of :data:`SIGNAL`.
    """

    homophily: str
    signal: str

    def people(self, topology: Graph, schema: Schema, seed: int) -> Graph:
        """Draw the world: labels, features and a 50/25/25 split over the topology."""
        rng = np.random.default_rng([seed, *map(ord, self.homophily + self.signal)])
        labels = planted_labels(topology, schema.classes, HOMOPHILY[self.homophily], rng)
        features = planted_features(labels, schema, SIGNAL[self.signal], rng)
        split = split_nodes(topology.num_nodes, 0.5, 0.25, seed=seed)
        return topology.replace(schema=schema, features=features, labels=labels, split=split)


def worlds() -> list[World]:
    """Return every combination, the most favourable to features last."""
    return [World(homophily, signal) for signal in SIGNAL for homophily in reversed(HOMOPHILY)]


def planted_labels(topology: Graph, classes: int, keep: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw classes that follow METIS communities: a person has their community's class with probability ``keep``.

    Communities have about ten mean degrees and at least 50 people. The others' classes are
    uniform, so the structure alone can tell a share of about keep + (1 - keep) / classes.
    """
    nodes = topology.num_nodes
    people = max(_COMMUNITY, 10 * topology.adjacency.nnz // nodes)
    communities = max(nodes // people, min(classes, nodes))
    members = partition(topology, communities, seed=int(rng.integers(1 << 31)))
    of_community = rng.permutation(np.arange(communities) % classes)
    own = rng.random(nodes) < keep
    return np.where(own, of_community[members], rng.integers(classes, size=nodes)).astype(np.int64)


def planted_features(
    labels: NDArray[np.int64], schema: Schema, signal: float, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Draw features that classes prefer: one end of every interval and one value of every category.

    A feature has the preferred value with probability ``signal``, and else a uniform one of its domain.
    """
    size = (len(labels), schema.dimension)
    categorical = np.array([isinstance(feature, Categories) for feature in schema.features], dtype=np.bool_)
    steps = np.where(categorical, schema.high - schema.low + 1, 2)
    liked = (rng.random((schema.classes, schema.dimension)) * steps).astype(np.int64)
    liked_values = schema.low + liked * np.where(categorical, 1.0, schema.high - schema.low)
    chance = rng.random(size)
    codes = np.floor(chance * steps)
    anything = schema.low + np.where(categorical, codes, chance * (schema.high - schema.low))
    decided = rng.random(size) < signal
    values = np.where(decided, liked_values[labels], anything).astype(np.float32)
    return np.clip(values, _inside(schema.low, 1), _inside(schema.high, -1))


def edge_homophily(graph: Graph) -> float:
    """Return the share of edges whose two ends have the same class."""
    if graph.labels is None:
        raise AssertionError("a world has labels")
    sources, targets = graph.edges
    return float(np.mean(graph.labels[sources] == graph.labels[targets]))


def _inside(bound: NDArray[np.float64], towards: int) -> NDArray[np.float32]:
    """The nearest single-precision number that is not outside the bound."""
    rounded = bound.astype(np.float32)
    outside = (rounded < bound) if towards > 0 else (rounded > bound)
    return np.where(outside, np.nextafter(rounded, np.float32(towards * np.inf)), rounded)
