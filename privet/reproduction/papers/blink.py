"""Tables of Blink (Zhu, Tan and Xiao 2023): private friend lists, public features.

Blink's epsilon is that of a list. Both ends of a pair report it, so that a relationship costs twice as much.
"""

from __future__ import annotations

from typing import Any

from privet.reproduction.published import Cell, PublishedTable

__all__ = ["TABLES"]

_PRICES = (("the same price", 1.0), ("what an honest server gets for the same price", 2.0))
"""Inquiry at Blink's epsilon, and at twice that: of an honest server only one end counts a pair."""


def _table(dataset: str, printed: tuple[float, ...], references: dict[str, float]) -> PublishedTable:
    cells = [
        Cell(
            dataset,
            f"Blink's eps {eps:g}: ours {factor * eps:g}, {price}",
            _settings(factor * eps),
            mean,
            at=eps,
            series=price,
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
            "Blink's epsilon is that of a list bit; both ends report a pair, so a relationship costs twice as much. So "
            "it does in Inquiry, where a dishonest server can make both ends count, and the true eps is that of a "
            "relationship. For an honest server one end counts each pair."
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
