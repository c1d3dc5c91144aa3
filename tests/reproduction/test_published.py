from __future__ import annotations

import pickle

import numpy as np
import pytest

from privet.data import Graph
from privet.errors import InvalidData, InvalidParameter
from privet.reproduction.papers import published_table
from privet.reproduction.published import ACCURACY, Cell, PublishedTable, accuracy, classification, of_kinds
from privet.systems import LPGNN
from privet.systems.controls import OWN, Control, simulate

CELLS = (
    Cell("cora", "eps 1", {"epsilon_features": 1.0}, 30.0, 1.0),
    Cell("cora", "eps 2", {"epsilon_features": 2.0}, 99.9),
    Cell("lastfm", "eps 1", {"epsilon_features": 1.0}, 86.1),
)
TABLE = PublishedTable("test-1", "A table of tests", "lpgnn", CELLS)


def test_only_some_cells() -> None:
    assert [cell.label for cell in TABLE.only(condition="eps 2").cells] == ["eps 2"]
    assert len(TABLE.only(condition="eps*").cells) == 3
    assert [cell.dataset for cell in TABLE.only(["last*"]).cells] == ["lastfm"]


def test_unknown_datasets_and_conditions_list_the_known_ones() -> None:
    with pytest.raises(InvalidParameter, match="among cora; lastfm"):
        TABLE.only(["cora", "reddit"])
    with pytest.raises(InvalidParameter, match="eps 1; eps 2"):
        TABLE.only(condition="eps 3")


SYSTEM = LPGNN(hops=1, max_epochs=5)


def figure(measure, column, system, graph: Graph, seed: int, **protocol) -> float:
    return measure.figure(column, system, measure.view(system, graph, seed, protocol), seed, protocol).test


def test_a_systems_columns_are_itself_and_its_controls(graph: Graph) -> None:
    keys = [column.key for column in ACCURACY.columns(SYSTEM)]
    assert keys == [
        OWN.key,
        "structure_only",
        "structure",
        "label_propagation",
        "features_only",
        "majority",
        "non_private",
    ]
    more = classification("more", "accuracy (%)", accuracy, Control("again", "again", "the same again", simulate))
    own, *_, again = more.columns(SYSTEM)
    assert figure(more, own, SYSTEM, graph, 0) == figure(more, again, SYSTEM, graph, 0)


def test_fewer_labels_are_worse(graph: Graph) -> None:
    column = next(each for each in ACCURACY.columns(SYSTEM) if each.key == "label_propagation")
    few, many = (figure(ACCURACY, column, SYSTEM, graph, 3, label_rate=rate) for rate in (0.02, 0.5))
    assert few < many
    fewer, more = (figure(ACCURACY, column, SYSTEM, graph, 3, split=split) for split in ([0.02, 0.1], [0.5, 0.25]))
    assert fewer < more


def test_kinds_become_columns(graph: Graph) -> None:
    own, other = of_kinds(lambda kind, *_: len(kind), {"abc": ("short", "title")})
    assert (own.fit(SYSTEM, graph, 0), other.fit(SYSTEM, graph, 0)) == (7, 3)
    assert (other.key, other.short, other.title) == ("abc", "short", "title")


def test_a_graph_without_labels_is_refused(graph: Graph) -> None:
    with pytest.raises(InvalidData, match="labels"):
        figure(ACCURACY, OWN, SYSTEM, graph.replace(labels=None), 0)
    assert accuracy(np.array([0, 1]), np.array([0, 0]), 2) == 0.5


def test_a_published_table_goes_to_another_process_by_name() -> None:
    table = published_table("privge-2").only(["cora"])
    again = pickle.loads(pickle.dumps(table))
    assert again == table
    assert again.measure is table.measure
