"""``privet predict``: from a model's directory to classes, whoever wrote it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from simulated_studies import privet

from privet.systems import Fitted

CHANCES = np.array([[0.75, 0.25], [np.nan, np.nan], [0.25, 0.75]], dtype=np.float32)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of three people, about one of whom nothing is predicted."""
    Fitted("lpgnn", None, CHANCES).save(tmp_path / "model")
    return tmp_path / "model"


def test_the_class_of_each_node_that_has_one(model: Path, tmp_path: Path) -> None:
    lines = privet("predict", model, home=tmp_path).splitlines()
    assert lines == ['"node","class","p0","p1"', "0,0,0.75,0.25", "2,1,0.25,0.75"]
    privet("predict", model, "--nodes", "2, 0", "--out", tmp_path / "some.parquet", home=tmp_path)
    assert pq.read_table(tmp_path / "some.parquet")["node"].to_pylist() == [2, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--nodes", "1,x"], "such as 1,2,3"),
        (["--nodes", "3"], "from 0 to 2"),
        (["--out", "file.txt"], ".csv or .parquet"),
    ],
)
def test_what_cannot_be_predicted_is_refused(model: Path, arguments: list[str], message: str, tmp_path: Path) -> None:
    error = privet("predict", model, *arguments, home=tmp_path, status=2)
    assert message in error
    assert error.count("\n") == 1


def test_a_missing_model_is_told(tmp_path: Path) -> None:
    assert "nowhere" in privet("predict", tmp_path / "nowhere", home=tmp_path, status=2)
