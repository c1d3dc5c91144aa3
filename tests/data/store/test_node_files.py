"""Files about nodes: counted in batches, whatever their form, or refused in one sentence."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyarrow import parquet

from privet.data.store import files
from privet.data.store.files import count_nodes, read_node_batches
from privet.errors import InvalidData, InvalidParameter


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_they_are_read_in_batches(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(files, "_BATCH", 4)
    path = tmp_path / f"people.{kind}"
    if kind == "csv":
        path.write_text("node,age\n" + "".join(f"{node},{node + 20}\n" for node in range(10)))
    else:
        parquet.write_table(pa.table({"node": range(10), "age": range(20, 30)}), path)
    assert count_nodes(path) == 10
    batches = list(read_node_batches(path))
    assert kind == "csv" or [batch.num_rows for batch in batches] == [4, 4, 2]
    assert [age for batch in batches for age in batch["age"].to_pylist()] == list(range(20, 30))


@pytest.mark.parametrize(
    ("text", "told"), [("person\n1\n", "one column 'node'; it has person"), ("node\n1\n2,3\n", "no table of nodes")]
)
def test_other_tables_are_refused(tmp_path, text, told):
    path = tmp_path / "people.csv"
    path.write_text(text)
    with pytest.raises(InvalidData, match=told):
        list(read_node_batches(path))


def test_other_files_are_refused(tmp_path):
    with pytest.raises(InvalidParameter, match=r"or a \.csv or \.parquet file"):
        count_nodes(tmp_path / "people.xlsx")
    with pytest.raises(InvalidData, match=r"people\.csv is missing"):
        count_nodes(tmp_path / "people.csv")
    (tmp_path / "people.parquet").write_bytes(b"nothing")
    with pytest.raises(InvalidData, match="no table of nodes"):
        count_nodes(tmp_path / "people.parquet")
