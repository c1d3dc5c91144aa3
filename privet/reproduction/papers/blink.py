"""Tables of Blink (Zhu, Tan and Xiao 2023): private friend lists, public features.

Blink's epsilon is that of a list. Both ends of a pair report it, so that a relationship costs twice as much.
"""

from __future__ import annotations

from typing import Any

from privet.reproduction.cells import Cell, PublishedTable

__all__ = ["TABLES"]

_PRICES = (("relationship", 2.0), ("list bit", 1.0))
"""Inquiry at Blink's price of a relationship, and at its price of a list bit; Inquiry's own prices are equal."""


def _table(dataset: str, printed: tuple[float, ...], references: dict[str, float]) -> PublishedTable:
    cells = [
        Cell(
            dataset,
            f"Blink's eps {eps:g}: ours {factor * eps:g}, the same price of a {price}",
            _settings(factor * eps),
            mean,
            at=eps,
            series=f"the same price of a {price}",
            references=references,
        )
        for price, factor in _PRICES
        for eps, mean in zip((1.0, 2.0, 3.0, 4.0), printed, strict=True)
    ]
    return PublishedTable(
        f"blink-{dataset}",
        f"Blink on {dataset.capitalize()}: public features, private lists",
        "inquiry",
        tuple(cells),
        remark=(
            "Blink's epsilon is that of a list; both ends report a pair, so a relationship costs twice as much. In "
            "Inquiry each pair is counted by one end at most, so a list bit and a relationship cost the same, which is "
            "the true eps."
        ),
        axis="Blink's epsilon of a list",
        beside=("structure", "dealt_answers", "noise_free"),
    )


def _settings(epsilon: float) -> dict[str, Any]:
    return {"epsilon_edges": epsilon, "public_features": True}


TABLES = (
    _table("cora", (71.2, 71.3, 74.8, 81.0), {"Blink's MLP": 71.0}),
    _table("citeseer", (73.7, 73.7, 74.6, 75.8), {}),
)
