"""Files of public edges and public labels, read for the nodes and classes of a study."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from simulated_studies import make_study

from privet.collection.operator.public_data import read_graph, read_labels
from privet.data import Schema, write_edges
from privet.errors import InvalidData

STUDY = make_study(
    nodes=300,
    schema=Schema.numeric(6, low=0.0, high=10.0, classes=["bus", "bike", "car", "train"]),
)


def test_public_files(tmp_path: Path) -> None:
    study = STUDY
    write_edges(tmp_path / "edges.csv", np.array([[0, 1, 1, 5], [1, 0, 2, 5]]))
    graph = read_graph(tmp_path / "edges.csv", study.population)
    assert (graph.num_nodes, graph.edges.tolist()) == (300, [[0, 1], [1, 2]])
    for text, expected in (("node,label\n3,2\n0,1\n", [1, 2]), ("node,label\n3,car\n0,bike\n", [1, 2])):
        (tmp_path / "labels.csv").write_text(text)
        labels = read_labels(tmp_path / "labels.csv", study.population)
        assert labels[[0, 3]].tolist() == expected
        assert (labels >= 0).sum() == 2


def test_a_number_is_a_name_where_classes_are_called_by_numbers(tmp_path: Path) -> None:
    study = make_study(nodes=9, schema=Schema.numeric(6, low=0.0, high=10.0, classes=["2", "1", "0"]))
    (tmp_path / "labels.csv").write_text("node,label\n3,2\n0,1\n")
    assert read_labels(tmp_path / "labels.csv", study.population)[[0, 3]].tolist() == [1, 0]
    (tmp_path / "labels.csv").write_text("node,label\n3,2\n0,3\n")
    with pytest.raises(InvalidData, match=r"one of 2, 1, 0, not 3 in row 1"):
        read_labels(tmp_path / "labels.csv", study.population)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("node,label\n300,1\n", "300 in row 0"),
        ("node,label\n3,4\n", "4 in row 0"),
        ("node,label\n3,1\n3,2\n", "3 again in row 1"),
        ("node,label\n3,1\n4,\n", "empty in row 1"),
        ("node,label\n3,bus\n4,\n", "empty in row 1"),
        ("node,label\n3,tram\n", "bus, bike, car, train"),
        ("node,class\n3,1\n", "label"),
        ("", "labels.csv"),
    ],
)
def test_labels_that_do_not_fit_are_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(InvalidData, match=message):
        read_labels(tmp_path / "labels.csv", STUDY.population)
