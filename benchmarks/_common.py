"""Parts that several benchmarks share: graphs of known shapes, and figures judged by the targets of their size."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from privet.data import Graph, load, social_graph

# people, average degree, features, features of a person, classes
_SHAPES = {
    "amazon": (13_752, 35.8, 767, 267, 10),
    "blogcatalog": (5_196, 66.1, 8_189, 71, 6),
    "facebook": (22_470, 15.2, 4_714, 14, 4),
    "flickr": (7_575, 63.3, 12_047, 24, 9),
    "pubmed": (19_717, 4.5, 500, 50, 3),
}


def known_graph(name: str) -> Graph:
    """Load a known dataset from the directory in PRIVET_DATA, or make a synthetic graph of its shape without it.

    Args:
        name: The dataset's name.
    """
    place = os.environ.get("PRIVET_DATA")
    if place and (Path(place) / f"{name}.npz").is_file():
        return load(name, place)
    people, degree, features, active, classes = _SHAPES[name]
    return social_graph(
        people, average_degree=degree, features=features, active_features=active, classes=classes, seed=0
    )


def is_real(name: str) -> bool:
    """Tell whether :func:`known_graph` loads the dataset itself."""
    place = os.environ.get("PRIVET_DATA")
    return bool(place) and (Path(str(place)) / f"{name}.npz").is_file()


class Target(NamedTuple):
    """What a figure is to reach.

    Attributes:
        whole: The target of a whole run.
        quick: The target of a quick run; None where its size says nothing about the figure.
        at_most: True if smaller figures are better.
    """

    whole: float
    quick: float | None = None
    at_most: bool = False


def judged(figures: Mapping[str, float], targets: Mapping[str, Target], quick: bool) -> dict[str, Any]:
    """Return the targets of a run's size, which figures meet them, and which were not judged.

    Args:
        figures: The figures by name.
        targets: The targets by name; figures without one are not judged.
        quick: True for a quick run.
    """
    aims = {name: target.quick if quick else target.whole for name, target in targets.items() if name in figures}
    met = {
        name: bool(figures[name] <= aim if targets[name].at_most else figures[name] >= aim)
        for name, aim in aims.items()
        if aim is not None
    }
    return {
        "quick": quick,
        "targets": {name: aim for name, aim in aims.items() if aim is not None},
        "met": met,
        "not_judged": sorted(set(figures) - set(met)),
    }
