"""RGNN on a synthetic social graph: categorical features and labels that stay on the devices.

Run it with ``python examples/rgnn.py``; it needs no data.
"""

from __future__ import annotations

from privet.data import group_columns, social_graph, split_nodes
from privet.mechanisms import SeededBits
from privet.systems import RGNN, structure_only


def main() -> None:
    graph = social_graph(800, classes=4, average_degree=8.0, homophily=0.6, features=40, feature_signal=0.9, seed=7)
    # A public transform that every device applies to its own row: "some column of the group is not 0". The columns of
    # this graph are in turn about the classes, so groups of one are right; bags of words are grouped by tens.
    graph = group_columns(graph, 1).replace(split=split_nodes(graph, 0.5, 0.25, seed=7))

    system = RGNN(
        epsilon_features=10.0, epsilon_labels=2.0, hops=2, input_label_hops=4, max_epochs=60, soft_labels=True
    )
    collected = system.collect(graph, SeededBits(7))  # the devices; SystemBits() for reports that are really sent
    fitted = system.fit(collected)  # the server, which has reports and the public topology

    guarantee = fitted.guarantee
    print(f"features {graph.schema.dimension}, of which each device answers {system.sample}")
    print(f"true epsilon {guarantee.epsilon:g} (the paper would claim {guarantee.published_epsilon:.2f})")
    print(guarantee.in_words())
    print(f"agreement with the noisy validation labels, all that the server can check: {fitted.validation_score:.3f}")
    print(f"test accuracy                             {fitted.score(graph.labels, graph.split.test):.3f}")
    control = structure_only(system, graph, SeededBits(7))
    print(f"the same with reports that say nothing    {control.score(graph.labels, graph.split.test):.3f}")


if __name__ == "__main__":
    main()
