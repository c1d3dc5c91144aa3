"""Synthetic social graphs with known degrees, homophily and feature signal, at the cost of their edges."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data.graph import Graph
from privet.data.schema import Schema
from privet.errors import InvalidParameter

__all__ = ["social_graph"]

_ROUNDS = 40  # of matching; each leaves at most about half of the stubs, so nothing of note is left over


def social_graph(
    num_nodes: int,
    classes: int = 4,
    average_degree: float = 10.0,
    homophily: float = 0.8,
    degree_exponent: float = 2.5,
    features: int = 64,
    feature_signal: float = 0.5,
    *,
    active_features: int = 8,
    seed: int,
) -> Graph:
    """Make an undirected degree-corrected block graph with binary features.

    Node i of a uniformly drawn class gets Poisson(h t_i) stubs for its own class and Poisson((1 - h) t_i) for the
    others, with h = ``homophily`` and t_i of mean ``average_degree`` and density ~ t^-degree_exponent, the largest
    sqrt(2 N / (classes average_degree)) times the smallest so that no two nodes would be joined many times. Stubs are
    paired at random, self-loops dropped and repetitions merged, which costs a small graph a few per cent of its
    edges. So h is the expected share of edges within a class.

    Each node draws ``active_features`` columns, a fraction ``feature_signal`` of the draws among its class's own
    columns (those j with j mod classes = class) and the others among all, and sets them to 1.

    Args:
        num_nodes: The number of nodes, N.
        classes: The number of classes.
        average_degree: The expected number of neighbours.
        homophily: The expected share of edges within a class, from 0 to 1.
        degree_exponent: The exponent of the degrees' power law, above 2.
        features: The number of feature columns; 0 for a graph without features.
        feature_signal: The share of a node's columns that tell its class, from 0 to 1.
        active_features: The number of columns that a node draws.
        seed: The same seed gives the same graph.

    >>> social_graph(100, classes=2, features=8, seed=0).schema
    Schema(8 features in [0, 1], 2 classes)
    """
    _check(num_nodes, classes, average_degree, homophily, degree_exponent, features, feature_signal, active_features)
    rng = np.random.default_rng(seed)
    labels = rng.integers(classes, size=num_nodes, dtype=np.int16)
    adjacency = _adjacency(labels, classes, average_degree, homophily, degree_exponent, rng)
    matrix = _features(labels, classes, features, feature_signal, active_features, rng) if features else None
    schema = Schema.numeric(features, 0.0, 1.0, classes=classes)
    return Graph._trusted(adjacency, directed=False).replace(
        features=matrix, labels=labels.astype(np.int64), schema=schema
    )


def _adjacency(
    labels: NDArray[np.int16],
    classes: int,
    average_degree: float,
    homophily: float,
    exponent: float,
    rng: np.random.Generator,
) -> sp.csr_array:
    nodes = len(labels)
    weights = _pareto(nodes, average_degree, exponent, math.sqrt(2 * nodes / (classes * average_degree)), rng)
    within = rng.poisson(homophily * weights).astype(np.int32)
    across = rng.poisson((1 - homophily) * weights).astype(np.int32)
    del weights
    by_class = np.argsort(labels, kind="stable").astype(np.int32)
    members = np.split(by_class, np.cumsum(np.bincount(labels, minlength=classes))[:-1])
    parts = [_pair(_stubs(group, within), rng) for group in members]
    parts += _pair_across(_stubs(np.arange(nodes, dtype=np.int32), across), labels, rng)
    sources = np.concatenate([part[0] for part in parts])
    targets = np.concatenate([part[1] for part in parts])
    del parts  # the largest arrays go as soon as they can: this is the peak of memory
    different = sources != targets
    sources, targets = sources[different], targets[different]
    ones = np.ones(len(sources), np.float32)
    one_way = sp.coo_array((ones, (sources, targets)), shape=(nodes, nodes)).tocsr()
    del sources, targets, different, ones
    adjacency = sp.csr_array(one_way + one_way.T)
    adjacency.sum_duplicates()
    adjacency.data.fill(1.0)
    return adjacency


def _pareto(count: int, mean: float, exponent: float, ratio: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw numbers of the given mean with density ~ t^-exponent, the largest ``ratio`` times the smallest."""
    ratio = max(ratio, 1.001)
    tail = 1.0 - exponent
    unscaled_mean = tail / (tail + 1) * (1 - ratio ** (tail + 1)) / (1 - ratio**tail)
    draws = (1.0 - rng.random(count) * (1.0 - ratio**tail)) ** (1.0 / tail)
    return np.asarray(draws * (mean / unscaled_mean))


def _stubs(nodes: NDArray[np.int32], counts: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.repeat(nodes, counts[nodes])


def _pair(stubs: NDArray[np.int32], rng: np.random.Generator) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Join the stubs two by two at random; an odd one stays alone."""
    rng.shuffle(stubs)
    half = len(stubs) // 2
    return stubs[:half], stubs[half : 2 * half]


def _pair_across(
    stubs: NDArray[np.int32], labels: NDArray[np.int16], rng: np.random.Generator
) -> list[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """Join the stubs at random to stubs of other classes: pairs within a class are drawn again."""
    parts = []
    for _ in range(_ROUNDS):
        if len(stubs) < 2:
            break
        left, right = _pair(stubs, rng)
        different = labels[left] != labels[right]
        parts.append((left[different], right[different]))
        stubs = np.concatenate([left[~different], right[~different]])
    return parts


def _features(
    labels: NDArray[np.int16], classes: int, columns: int, signal: float, active: int, rng: np.random.Generator
) -> sp.csr_array:
    size = (len(labels), active)
    own_columns = ((columns - 1 - np.arange(classes)) // classes + 1).astype(np.int32)
    chosen = rng.integers(columns, size=size, dtype=np.int32)
    informative = rng.random(size, dtype=np.float32) < signal
    own = rng.integers(own_columns[labels][:, None], size=size, dtype=np.int32) * classes + labels[:, None]
    np.copyto(chosen, own, where=informative)
    ones = np.ones(chosen.size, np.float32)
    matrix = sp.csr_array((ones, chosen.ravel(), np.arange(len(labels) + 1) * active), shape=(len(labels), columns))
    matrix.sum_duplicates()
    matrix.data.fill(1.0)
    return matrix


def _check(
    num_nodes: int,
    classes: int,
    average_degree: float,
    homophily: float,
    exponent: float,
    features: int,
    signal: float,
    active: int,
) -> None:
    requirements = [
        ("num_nodes", num_nodes, 1 <= num_nodes < 2**31, "an integer from 1 to 2^31 - 1"),
        ("classes", classes, 2 <= classes < 2**15, "an integer from 2 to 32767"),
        ("average_degree", average_degree, 0 < average_degree < num_nodes, "above 0 and below num_nodes"),
        ("homophily", homophily, 0 <= homophily <= 1, "from 0 to 1"),
        ("degree_exponent", exponent, 2 < exponent < math.inf, "a finite number above 2"),
        ("features", features, features == 0 or features >= classes, "0 or at least the number of classes"),
        ("feature_signal", signal, 0 <= signal <= 1, "from 0 to 1"),
        ("active_features", active, active >= 1, "an integer of at least 1"),
    ]
    for name, value, fine, expected in requirements:
        if not fine:
            raise InvalidParameter(name, expected, value)
