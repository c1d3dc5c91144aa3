"""Answers as CSV: the columns of the Parquet file."""

import csv

import numpy as np
import pyarrow.parquet as pq
from simulated_studies import make_study, simulated

from privet.collection.downloads import write_csv, write_panel
from privet.collection.operator.export.answer_files import write_answers
from privet.collection.study.forms import OpenData
from privet.data import Schema


def test_it_has_the_columns_and_values_of_the_parquet_file(tmp_path):
    study = make_study(
        schema=Schema.numeric(6, low=0.0, high=10.0, classes=3, private_edges=True), neighbours={"epsilon": 4.0}
    )
    answers = simulated(study, seed=1)
    write_csv(tmp_path / "a.csv", study, answers)
    write_answers(tmp_path / "a.parquet", study, answers)
    table = pq.read_table(tmp_path / "a.parquet")
    with (tmp_path / "a.csv").open(newline="") as file:
        names, *rows = csv.reader(file)
    assert names == table.column_names
    for name, *cells in zip(names, *rows, strict=True):
        lists = [value if isinstance(value, list) else [value] for value in table[name].to_pylist()]
        assert [[int(part) for part in cell.split()] for cell in cells] == lists, name


def test_a_study_that_nobody_answered_has_a_head(tmp_path):
    study = make_study()
    write_csv(tmp_path / "a.csv", study, simulated(study, seed=1, count=0))
    assert (tmp_path / "a.csv").read_text() == "node,features.coordinates,features.symbols,label\n"


def test_a_panel_s_values_are_written_exactly(tmp_path):
    features = np.array([[0.1, 1 / 3], [2.5, 1e-17]])
    study = make_study(schema=Schema.numeric(2, 0.0, 3.0, classes=3))
    write_panel(tmp_path / "p.csv", study, OpenData(np.array([4, 9]), features, np.array([2, 0])))
    with (tmp_path / "p.csv").open(newline="") as file:
        names, *rows = csv.reader(file)
    assert names == ["node", "feature_0", "feature_1", "label"]
    assert [[float(cell) for cell in row] for row in rows] == [[4.0, *features[0], 2.0], [9.0, *features[1], 0.0]]
