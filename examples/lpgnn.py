"""LPGNN on a synthetic social graph: what private features, and then private labels, cost in accuracy."""

from __future__ import annotations

from privet.data import social_graph, split_nodes
from privet.mechanisms import SeededBits
from privet.systems import LPGNN


def main() -> None:
    graph = social_graph(2_000, classes=4, average_degree=6, homophily=0.6, features=64, seed=0)
    graph = graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))
    for epsilon_features, epsilon_labels in [(4.0, None), (1.0, None), (1.0, 1.0)]:
        system = LPGNN(epsilon_features=epsilon_features, epsilon_labels=epsilon_labels, hops=4, label_hops=4)
        collected = system.collect(graph, SeededBits(0))  # all devices; only reports leave them
        fitted = system.fit(collected)  # the server
        accuracy = fitted.score(graph.labels, graph.split.test)
        labels = "public" if epsilon_labels is None else f"epsilon {epsilon_labels}"
        print(f"features epsilon {epsilon_features}, labels {labels}: accuracy {100 * accuracy:.1f} %")
        print(f"  guarantee: epsilon {fitted.guarantee.epsilon} for {fitted.guarantee.unit}")


if __name__ == "__main__":
    main()
