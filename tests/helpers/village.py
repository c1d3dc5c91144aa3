"""A small village with a split, for tests about liars."""

from privet.data import Graph, social_graph, split_nodes


def village() -> Graph:
    """Sixty people in three classes."""
    graph = social_graph(60, classes=3, average_degree=6, features=5, seed=0)
    return graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))
