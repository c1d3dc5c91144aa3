from __future__ import annotations

import numpy as np
import pytest

from privet.data import Graph
from privet.errors import InvalidData
from privet.reproduction.measures import ACCURACY, OWN, accuracy, classification, of_kinds
from privet.systems import LPGNN
from privet.systems.controls import Control, simulate

SYSTEM = LPGNN(hops=1, max_epochs=5)


def test_a_systems_columns_are_itself_and_its_controls(graph: Graph) -> None:
    keys = [column.key for column in ACCURACY.columns(SYSTEM)]
    assert keys == [OWN, "structure_only", "structure", "label_propagation", "features_only", "majority", "non_private"]
    more = classification("more", "accuracy (%)", accuracy, Control("again", "again", "the same again", simulate))
    own, *_, again = more.columns(SYSTEM)
    assert own.measure(SYSTEM, graph, 0) == again.measure(SYSTEM, graph, 0)


def test_fewer_labels_are_worse(graph: Graph) -> None:
    column = next(each for each in ACCURACY.columns(SYSTEM) if each.key == "label_propagation")
    few, many = (column.measure(SYSTEM, graph, 3, label_rate=rate) for rate in (0.02, 0.5))
    assert few < many
    fewer, more = (column.measure(SYSTEM, graph, 3, split=split) for split in ([0.02, 0.1], [0.5, 0.25]))
    assert fewer < more


def test_kinds_become_columns(graph: Graph) -> None:
    own, other = of_kinds(lambda kind, *_: {"test": len(kind)}, OWN, {"abc": ("short", "title")})
    assert (own.measure(SYSTEM, graph, 0), other.measure(SYSTEM, graph, 0)) == (7, 3)
    assert (other.key, other.short, other.title) == ("abc", "short", "title")


def test_a_graph_without_labels_is_refused(graph: Graph) -> None:
    with pytest.raises(InvalidData, match="labels"):
        ACCURACY.columns(SYSTEM)[0].measure(SYSTEM, graph.replace(labels=None), 0)
    assert accuracy(np.array([0, 1]), np.array([0, 0]), 2) == 0.5
