"""Friend lists that stay on devices: the table of the friend question on dense and on sparse networks."""

from __future__ import annotations

from typing import Any

from privet.reproduction.papers.inquiry.measures import RAW_GRAPH, RAW_NETWORK
from privet.reproduction.published import Cell, PublishedTable, accuracy, classification

__all__ = ["FRIENDS", "TABLES"]

_NETWORKS = ("amherst", "cornell", "facebook", "cora", "citeseer")
_COPIED = ("amherst", "cora", "citeseer")
"""Networks whose noisy lists, as Solitude collects them, fit into memory."""
_BUDGETS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Epsilons of a relationship: twice those of a list bit, since both ends of a relationship may report it."""
FRIENDS = classification("friends", "accuracy (%)", accuracy, RAW_NETWORK, RAW_GRAPH)
"""Accuracy beside networks that see everything."""


def _friends() -> PublishedTable:
    cells = [_counts(dataset, eps, public) for dataset in _NETWORKS for public in (False, True) for eps in _BUDGETS]
    cells += [_copies(dataset, eps) for dataset in _COPIED for eps in _BUDGETS]
    return PublishedTable(
        "inquiry-friends",
        "Friend lists that stay on devices: accuracy by the epsilon of a relationship",
        "inquiry",
        tuple(cells),
        measure=FRIENDS,
        axis="epsilon of a relationship",
        remark=(
            "Half of the people have a public class and a quarter validate. Both ends of a relationship may report it, "
            "so its epsilon is twice that of a list bit. For an honest server one end counts each pair, at half the "
            "price: its figure at 1 is the one at 2 here. Solitude collects noisy friend lists at the same price of a "
            "relationship, and noisy features at another epsilon of 1, which is in its true eps; its lists of cornell "
            "would have more than a hundred million noisy entries."
        ),
        beside=("structure", "majority", "raw_network", "raw_graph"),
    )


def _counts(dataset: str, eps: float, public: bool) -> Cell:
    settings: dict[str, Any] = {"epsilon_edges": eps / 2} | ({"public_features": True} if public else {})
    known = "public features" if public else "nothing known"
    return Cell(
        dataset,
        f"{known}, eps {eps:g}",
        settings,
        None,
        at=eps,
        series="Inquiry (counts)" + (", public features" if public else ""),
    )


def _copies(dataset: str, eps: float) -> Cell:
    return Cell(
        dataset,
        f"Solitude, eps {eps:g}",
        {"epsilon_features": 1.0, "epsilon_edges": eps / 2},
        None,
        at=eps,
        series="Solitude (copies)",
        controls=False,
        system="solitude",
    )


TABLES = (_friends(),)
