"""Node-level private training on a synthetic social graph: what sampled and what open neighbours are worth."""

from __future__ import annotations

from privet.data import social_graph, split_nodes
from privet.systems import HeterPoisson, PrivateMLP, SmoothedMLP


def main() -> None:
    graph = social_graph(3_000, classes=3, average_degree=12, homophily=0.8, features=60, feature_signal=0.3, seed=0)
    graph = graph.replace(split=split_nodes(graph, 0.8, 0.0, seed=0))
    common = {"batch_size": 600, "epochs": 6, "seed": 0}  # a seed is for simulations only
    systems = {
        "perceptron without the graph": PrivateMLP(target_epsilon=4.0, **common),
        "the same, smoothed": SmoothedMLP(target_epsilon=4.0, **common),
        "HeterPoisson, open neighbours only (M = 0)": HeterPoisson(target_epsilon=4.0, multiplier=0.0, **common),
        "HeterPoisson without privacy": HeterPoisson(target_epsilon=4.0, **common).without_privacy(),
    }
    for name, system in systems.items():
        fitted = system.fit(graph)
        promise = "none" if fitted.guarantee is None else f"{fitted.guarantee.epsilon:.2f}"
        noise = system.noise_multiplier_for(graph.num_nodes)
        accuracy = fitted.score(graph.labels, graph.split.test)
        print(f"{name}: accuracy {accuracy:.3f}, epsilon {promise}, noise multiplier {noise:.2f}")


if __name__ == "__main__":
    main()
