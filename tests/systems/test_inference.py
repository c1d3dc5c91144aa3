"""Predictions in files of bounded size are those of one file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privet.errors import InvalidData, InvalidParameter
from privet.systems import Fitted
from privet.systems.inference import write_partitioned_predictions


@pytest.mark.parametrize("rows", [1, 3, 100])
def test_the_files_together_are_the_table(rows: int, tmp_path: Path) -> None:
    chances = np.random.default_rng(0).dirichlet([1, 1, 1], 10).astype(np.float32)
    chances[4] = np.nan
    model = Fitted("lpgnn", None, chances)
    model.save(tmp_path / "model")
    names = ("lark", "owl", "swift")
    files = write_partitioned_predictions(tmp_path / "model", tmp_path / "out", names=names, rows=rows)
    found = [pq.read_table(path) for path in sorted((tmp_path / "out").iterdir())]
    assert len(found) == files == -(-9 // rows)
    assert max(table.num_rows for table in found) <= rows
    assert pa.concat_tables(found).equals(model.predictions(names=names))


def test_bad_input_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match="no model's directory"):
        write_partitioned_predictions(tmp_path / "none", tmp_path / "out")
    with pytest.raises(InvalidParameter, match="at least 1"):
        write_partitioned_predictions(tmp_path / "none", tmp_path / "out", rows=0)
    Fitted("lpgnn", None, np.full((2, 2), np.nan, np.float32)).save(tmp_path / "empty")
    assert write_partitioned_predictions(tmp_path / "empty", tmp_path / "out") == 1
    with pytest.raises(InvalidParameter, match="is not empty"):
        write_partitioned_predictions(tmp_path / "empty", tmp_path / "out")
