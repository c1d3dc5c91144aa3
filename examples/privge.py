"""PrivGE on a synthetic social graph: classes and links from one kind of private report.

Run it with ``python examples/privge.py``; it needs no data.
"""

from __future__ import annotations

from privet.data import social_graph, split_edges, split_nodes
from privet.mechanisms import SeededBits
from privet.systems import PrivGE


def main() -> None:
    graph = social_graph(1_000, classes=4, average_degree=8, homophily=0.8, features=64, seed=0)

    nodes = graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))
    system = PrivGE(epsilon_features=1.0, sample=4, max_epochs=60)
    fitted = system.fit(system.collect(nodes, SeededBits(0)))  # devices, then the server
    print(f"classes: accuracy {fitted.score(graph.labels, nodes.split.test):.3f}, embedding {fitted.embedding.shape}")

    links = split_edges(graph, validation=0.05, test=0.10, seed=0)
    system = PrivGE(epsilon_features=1.0, num_layers=1, hidden_channels=64, scale=0.3, weight_decay=0.0, max_epochs=10)
    collected = system.collect(links.graph, SeededBits(0))  # the topology of the training edges, no other
    predictor = system.fit_links(collected, links.train, links.validation)
    print(f"links: AUC {predictor.auc(links.test):.3f}, first logits {predictor.score_links(links.test.edges[:, :3])}")
    print(predictor.guarantee.in_words())


if __name__ == "__main__":
    main()
