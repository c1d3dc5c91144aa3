"""Every registered local system passes the checks of :mod:`privet.testing`."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privet.data import Graph, group_columns, social_graph, split_nodes
from privet.errors import InvalidData, InvalidParameter
from privet.privacy import Unit
from privet.systems import SYSTEMS, LocalSystem
from privet.systems.local.inquiry import Inquiry
from privet.systems.local.structure import Structure
from privet.testing import check_local_system


def graph_for(system: LocalSystem) -> Graph:
    """A graph of the kind that a system asks about: numeric or categorical features, public or private edges."""
    numeric = social_graph(120, classes=3, average_degree=8, features=12, seed=0)
    numeric = numeric.replace(split=split_nodes(numeric, 0.5, 0.25, seed=0))
    for graph in (numeric, group_columns(numeric, 3)):
        try:
            release = system.release(graph)
        except InvalidData:
            continue
        schema = replace(graph.schema, private_edges=release.asks_about(Unit.NEIGHBOUR_BIT))
        return graph.replace(schema=schema)
    raise AssertionError(f"{system.name} asks neither about numbers nor about categories")


def settings_of(kind: type[LocalSystem]) -> dict[str, Any]:
    """Settings that train in a moment."""
    if kind is Structure:
        return {}
    quick = {"max_epochs": 3} if "max_epochs" in {each.name for each in fields(kind)} else {}
    return {"epsilon_features": 2.0, **quick}


@pytest.mark.parametrize("settings", [{}, {"epsilon_labels": 2.0}], ids=["public labels", "private labels"])
@pytest.mark.parametrize("name", [name for name, kind in SYSTEMS.items() if issubclass(kind, LocalSystem)])
def test_every_local_system_conforms(name: str, settings: dict[str, Any]) -> None:
    kind = SYSTEMS[name]
    try:
        system = kind(**settings_of(kind), **settings)
    except InvalidParameter as refusal:
        if settings and "epsilon_labels" in str(refusal):
            return  # a system may have public labels only
        raise
    check_local_system(system, graph_for(system))


def test_reported_lengths_conform() -> None:
    system = SYSTEMS["solitude"](degrees="reported", one_sided=False, max_epochs=3)
    check_local_system(system, graph_for(system))


WEIGHTS = np.random.default_rng(0).normal(size=(13, 3))


def columns_alike(features: Any) -> NDArray[np.float64]:
    """A public function of features that is no linear one."""
    return np.square(np.asarray(features @ WEIGHTS[:-1]))


@pytest.mark.parametrize(
    "settings",
    [
        {"panel": 0.3},
        {"panel": tuple(range(0, 120, 2))},
        {"pilot": 0.3},
        {"class_sums": 2.0},
        {"server_sums": 2.0},
        {"scorer": WEIGHTS},
        {"scorer": columns_alike},
        {"panel": 0.3, "everybody": True},
        {"epsilon_edges": 1.0, "epsilon_features": None},
        {"epsilon_edges": 1.0, "epsilon_features": None, "public_features": True},
        {"epsilon_edges": 1.0},
        {"epsilon_edges": 1.0, "pilot": 0.3},
        {"epsilon_labels": 3.0, "pilot": 0.3},
        {"epsilon_labels": 3.0, "epsilon_edges": 1.0},
    ],
    ids=lambda settings: " ".join(settings),
)
def test_every_kind_of_inquiry_conforms(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("privet.estimation.priors.feature_prior._EPOCHS", 4)  # whatever is learned, it conforms
    system = Inquiry(**{"epsilon_features": 2.0, **settings})
    graph = graph_for(system)
    if isinstance(system.panel, tuple):
        known = np.flatnonzero(graph.split.train | graph.split.validation)
        system = replace(system, panel=tuple(known[::2].tolist()))
    check_local_system(system, graph)
