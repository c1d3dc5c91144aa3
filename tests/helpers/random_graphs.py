"""Small random graphs with every part that a central system needs, and the same without one node."""

from __future__ import annotations

import numpy as np

from privet.data import Graph, Schema, Split


def random_graph(rng: np.random.Generator, nodes: int) -> Graph:
    pairs = np.array(np.nonzero(np.triu(rng.random((nodes, nodes)) < 0.6, k=1)))
    part = rng.integers(4, size=nodes)
    part[:2] = 0
    return Graph.from_edges(
        pairs,
        nodes,
        features=rng.normal(size=(nodes, 4)).astype(np.float32),
        labels=rng.integers(3, size=nodes),
        split=Split(part < 2, part == 2, part == 3),
        schema=Schema.numeric(4, -9, 9, classes=3),
    )


def without_node(graph: Graph, node: int) -> Graph:
    train = graph.split.train.copy()
    train[node] = False
    return graph.replace(split=Split(train, graph.split.validation, graph.split.test))
