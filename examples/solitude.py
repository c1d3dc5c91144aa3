"""Solitude on a synthetic social graph: learning when the server sees neither the features nor the friendships."""

from __future__ import annotations

from dataclasses import replace

from privet.data import social_graph, split_nodes
from privet.mechanisms import SeededBits
from privet.systems import Solitude, count_noise


def main() -> None:
    graph = social_graph(2_000, classes=4, average_degree=6, homophily=0.8, features=200, seed=0)
    schema = replace(graph.schema, private_edges=True)
    graph = graph.replace(schema=schema, split=split_nodes(graph, 0.5, 0.25, seed=0))
    for calibration, one_sided, symmetrise in [
        ("none", True, "union"),
        ("published", True, "union"),
        ("bayesian", True, "posterior"),
        ("bayesian", False, "posterior"),
    ]:
        system = Solitude(epsilon_edges=6.5, one_sided=one_sided, symmetrise=symmetrise, calibration=calibration)
        collected = system.collect(graph, SeededBits(0))  # all devices; only reports leave them
        fitted = system.fit(collected)  # the server
        accuracy = fitted.score(graph.labels, graph.split.test)
        mode = "one-sided" if one_sided else "two-sided"
        print(f"{calibration}, {mode}: accuracy {100 * accuracy:.1f} %")
        reported, expected = (round(fitted.facts[name]) for name in ("reported_pairs", "expected_noise"))
        print(f"  {reported} reported pairs, about {expected} of them noise (in truth {count_noise(graph, collected)})")
        print(f"  a relationship costs epsilon {fitted.guarantee.relationship_epsilon:g}")


if __name__ == "__main__":
    main()
