"""Quick runs of tables, which only show that everything works: made-up graphs, few cells, hardly any training."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from privet.data import KNOWN, Graph, social_graph
from privet.reproduction.cells import PublishedTable
from privet.systems import LocalSystem

__all__ = ["NO_MEASUREMENT", "shrunk", "stand_in", "thinned"]

_NODES = 240
_MOST_FEATURES = 4000  # enough to group columns and to sample from
_CELLS = 6
_SMALL: dict[str, Any] = {"max_epochs": 2, "epochs": 1.0, "networks": 1, "clusters": 4, "hidden_channels": 8}
_SMALL["panel"] = 0.5  # of few people, so that every class is among them
_SMALL_BATCH = 64
NO_MEASUREMENT = (
    f"Quick figures are no measurements: a made-up graph of {_NODES} nodes stands for each dataset, one seed, at most "
    f"{_SMALL['max_epochs']} epochs, at most {_CELLS} cells of a table. They show that it runs, nothing else."
)


def thinned(table: PublishedTable) -> PublishedTable:
    """Return the table with at most a few cells, evenly spaced over those that can be measured."""
    able = [cell for cell in table.cells if cell.available]
    places = np.unique(np.linspace(0, len(able) - 1, _CELLS).round().astype(int))
    chosen = [replace(able[place], protocol={**able[place].protocol, **table.measure.quick}) for place in places]
    return replace(table, cells=tuple(chosen))


def shrunk(system: Any) -> Any:
    """Return the same system, hardly trained."""
    known = {field.name for field in fields(system)}
    small = {name: value for name, value in _SMALL.items() if name in known and getattr(system, name) is not None}
    if not isinstance(system, LocalSystem):
        small["batch_size"] = _SMALL_BATCH
    return replace(system, **small)


def stand_in(dataset: str) -> Graph:
    """Make a social graph with as many classes and, up to a point, features as a known dataset has."""
    facts = KNOWN[dataset]
    return social_graph(
        _NODES, classes=facts.classes, average_degree=6, features=min(facts.features, _MOST_FEATURES), seed=0
    )
