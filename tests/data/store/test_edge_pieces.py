"""Edge lists in pieces: every fault is told with its line, wherever the pieces are cut."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from privet.data.store.edge_pieces import cut_into_pieces, find_edge, read_piece
from privet.errors import InvalidData


def read(path, nodes=10, self_loops="refuse", size=16):
    blocks = [block for piece in cut_into_pieces(path, size) for block in read_piece(piece, nodes, self_loops, 3)]
    return np.concatenate(blocks, axis=1) if blocks else np.zeros((2, 0), np.int64)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("size", [1, 16, 1000])
def test_lines_survive_every_cut(end, size, tmp_path):
    path = tmp_path / "e.csv"
    lines = [f"{k % 10},{(k + 1) % 10}" for k in range(25)]
    path.write_bytes(end.join(["source,target", *lines]).encode())  # no line end after the last one
    assert read(path, size=size).T.tolist() == [[k % 10, (k + 1) % 10] for k in range(25)]


def test_other_columns_are_left_aside_but_weights_refused(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("target,since,source\n1,2020,0\n")
    assert read(path).tolist() == [[0], [1]]
    path.write_text("source,target,weight\n0,1,0.5\n")
    with pytest.raises(InvalidData, match="holds edges without weights"):
        read(path)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("1,2,3", "e.csv line 14 must have 2 fields, source,target."),
        ("1", "e.csv line 14 must have 2 fields, source,target."),
        ("1,two", "e.csv line 14: the target must be an integer, and is 'two'."),
        ("1.5,2", "e.csv line 14: the source must be an integer, and is '1.5'."),
        (",2", "e.csv line 14: the source must be an integer, and is empty."),
        ("1,10", "e.csv line 14: the target must be a node id from 0 to 9, and is 10."),
        ("-1,2", "e.csv line 14: the source must be a node id from 0 to 9, and is -1."),
        ("3,3", "e.csv line 14 joins node 3 to itself; drop or keep such loops."),
    ],
)
@pytest.mark.parametrize("size", [1, 20, 1000])
def test_a_fault_is_told_with_its_line(line, told, size, tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("\n".join(["source,target", *["0,1"] * 11, "", line, *["0,1"] * 5, ""]))
    with pytest.raises(InvalidData) as caught:
        read(path, size=size)
    assert str(caught.value) == told


def test_a_parquet_file_names_the_row(tmp_path):
    path = tmp_path / "e.parquet"
    columns = {"source": [0, 1, 2, 3, 4, 5], "target": [1, 2, 3, 4, 99, 0]}
    parquet.write_table(pa.table(columns), path, row_group_size=2)
    with pytest.raises(InvalidData, match=r"e\.parquet row 4: the target must be a node id from 0 to 9, and is 99\."):
        read(path)
    parquet.write_table(pa.table({"source": [0.5], "target": [1]}), path)
    with pytest.raises(InvalidData, match=r"must be integers, not double values"):
        read(path)
    path.write_bytes(b"PAR1 but not really")
    with pytest.raises(InvalidData, match="is no Parquet table"):
        read(path)


def test_an_edge_is_found_again(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("source,target\n0,1\n2,1\n1,2\n")
    pieces = cut_into_pieces(path, 5)
    assert find_edge(pieces, 1, 2, directed=False) == ["e.csv line 3", "e.csv line 4"]
    assert find_edge(pieces, 1, 2, directed=True) == ["e.csv line 4"]


def test_columns_must_be_named(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("0,1\n1,2\n")
    with pytest.raises(InvalidData, match="line 1 must name the columns source and target once; it has 0,1"):
        read(path)
