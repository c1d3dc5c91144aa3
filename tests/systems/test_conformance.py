"""Every registered local system passes the checks of :mod:`privet.testing`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from privet.data import Graph, group_columns, social_graph, split_nodes
from privet.errors import InvalidData, InvalidParameter
from privet.systems import SYSTEMS, LocalSystem
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
        schema = replace(graph.schema, private_edges=release.asks("neighbours"))
        return graph.replace(schema=schema)
    raise AssertionError(f"{system.name} asks neither about numbers nor about categories")


@pytest.mark.parametrize("settings", [{}, {"epsilon_labels": 2.0}], ids=["public labels", "private labels"])
@pytest.mark.parametrize("name", [name for name, kind in SYSTEMS.items() if issubclass(kind, LocalSystem)])
def test_every_local_system_conforms(name: str, settings: dict[str, Any]) -> None:
    kind = SYSTEMS[name]
    try:
        system = kind(epsilon_features=2.0, max_epochs=3, **settings)
    except InvalidParameter as refusal:
        if settings and "'epsilon_labels'" in str(refusal):
            return  # a system may have public labels only
        raise
    check_local_system(system, graph_for(system))


def test_reported_lengths_conform() -> None:
    system = SYSTEMS["solitude"](degrees="reported", one_sided=False, max_epochs=3)
    check_local_system(system, graph_for(system))
