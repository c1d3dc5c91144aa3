"""`privet table ... --quick`: does everything run? Made-up graphs, few cells, hardly any training: no measurements."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from privet.data import KNOWN, Graph, social_graph
from privet.reproduction.cells import Cell, PublishedTable
from privet.systems import AnySystem, CentralSystem

__all__ = ["NO_MEASUREMENT", "shrunk", "stand_in", "thinned"]

AnySystemT = TypeVar("AnySystemT", bound=AnySystem)

_NODES = 240
_MOST_FEATURES = 1500  # enough for RGNN to group and for PrivGE to sample from
_CELLS = 6
_SMALL: dict[str, Any] = {"max_epochs": 2, "epochs": 1.0, "networks": 1, "clusters": 4, "hidden_channels": 8}
_SMALL_BATCH = 64
_SMALL_PROTOCOL: dict[str, dict[str, Any]] = {"canaries": {"runs": 300}}
NO_MEASUREMENT = (
    f"Quick figures are no measurements: a made-up graph of {_NODES} nodes stands for each dataset, one seed, at most "
    f"{_SMALL['max_epochs']} epochs, at most {_CELLS} cells of a table. They show that it runs, nothing else."
)


def thinned(table: PublishedTable) -> PublishedTable:
    """At most a few cells of a table, evenly spaced over those that can be measured."""
    able = [cell for cell in table.cells if cell.available]
    places = np.unique(np.linspace(0, len(able) - 1, _CELLS).round().astype(int))
    return replace(table, cells=tuple(_quicker(able[place], table.task) for place in places))


def _quicker(cell: Cell, task: str) -> Cell:
    return replace(cell, protocol=cell.protocol | _SMALL_PROTOCOL.get(task, {}))


def shrunk(system: AnySystemT) -> AnySystemT:
    """The same system, hardly trained."""
    known = {field.name for field in fields(system)}
    small = {name: value for name, value in _SMALL.items() if name in known}
    if isinstance(system, CentralSystem):
        small["batch_size"] = _SMALL_BATCH
    return replace(system, **small)


def stand_in(dataset: str) -> Graph:
    """A social graph with as many classes and, up to a point, features as the dataset has."""
    facts = KNOWN[dataset]
    return social_graph(
        _NODES, classes=facts.classes, average_degree=6, features=min(facts.features, _MOST_FEATURES), seed=0
    )
