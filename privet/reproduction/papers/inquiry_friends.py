"""Inquiry's friend question on real social networks: nothing is known of people but the counts that they send."""

from __future__ import annotations

from privet.reproduction.cells import Cell, PublishedTable
from privet.reproduction.figures.raw_network import RAW_GRAPH, RAW_NETWORK
from privet.reproduction.measures import accuracy, classification

__all__ = ["TABLES"]

_DATASETS = ("amherst", "cornell")
_BUDGETS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Epsilons of a relationship: twice those of a list bit, since both ends of a relationship may report it."""
_MEASURE = classification("friends", "accuracy (%)", accuracy, RAW_NETWORK, RAW_GRAPH)


def _friends() -> PublishedTable:
    cells = [_counts(dataset, eps) for dataset in _DATASETS for eps in _BUDGETS]
    cells += [_copies("amherst", eps) for eps in _BUDGETS]
    return PublishedTable(
        "inquiry-friends",
        "Friend lists that stay on devices: accuracy by the epsilon of a relationship",
        "inquiry",
        tuple(cells),
        measure=_MEASURE,
        axis="epsilon of a relationship",
        remark=(
            "Students of a college, of whom half have a public class (the year of graduation) and a quarter validate. "
            "Inquiry knows nothing else about anybody. Solitude collects noisy friend lists at the same price of a "
            "relationship, and noisy features at another epsilon of 1, which is in its true eps; its lists of cornell "
            "would have more than a hundred million noisy entries."
        ),
        beside=("majority", "raw_network", "raw_graph"),
    )


def _counts(dataset: str, eps: float) -> Cell:
    return Cell(
        dataset,
        f"friends counted, eps {eps:g}",
        {"epsilon_edges": eps / 2},
        None,
        at=eps,
        series="Inquiry (counts)",
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
