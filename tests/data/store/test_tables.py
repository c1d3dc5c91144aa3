"""Tables in a store: routed to partitions, checked, replaced as a whole."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from stored_graphs import random_pattern, stored

from privet.data.store import open_table, write_blocks, write_table
from privet.errors import InvalidData, InvalidParameter


@pytest.fixture
def store(tmp_path):
    return stored(tmp_path, random_pattern(2, 40), 3)


def batches(ids, size=7):
    return [pa.table({"node": ids[k : k + size], "answer": ids[k : k + size] * 2}) for k in range(0, len(ids), size)]


def test_rows_in_any_order_reach_their_partition(store):
    ids = np.random.default_rng(0).permutation(40)[:29]
    table = write_table(store, "answers", batches(ids))
    found = []
    for number in range(3):
        rows = table.read(number)
        nodes = rows["node"].to_numpy()
        assert (rows["answer"].to_numpy() == 2 * nodes).all()
        assert (store.partition(number).ids[table.places(number)] == nodes).all()
        found += nodes.tolist()
    assert sorted(found) == sorted(ids)
    assert open_table(store, "answers").num_rows == 29
    assert sorted(path.name for path in table.path.iterdir()) == [
        *(f"part-{p:05d}.parquet" for p in range(3)),
        "table.json",
    ]


def test_a_node_has_one_row_and_a_complete_table_all_of_them(store):
    with pytest.raises(InvalidData, match="has two rows for node 5"):
        write_table(store, "answers", batches(np.array([3, 5, 7, 8, 9, 1, 2, 5])))
    with pytest.raises(InvalidData, match="must have a row for each of 40 nodes; has 39"):
        write_table(store, "answers", batches(np.arange(39)), complete=True)
    with pytest.raises(InvalidData, match="from 0 to 39"):
        write_table(store, "answers", batches(np.arange(41)))
    assert not (store.path / "tables" / "answers").exists()


def test_a_failed_table_leaves_the_old_one(store):
    write_table(store, "answers", batches(np.arange(40)))
    with pytest.raises(InvalidData):
        write_table(store, "answers", batches(np.array([1, 1])))
    assert open_table(store, "answers").num_rows == 40
    write_table(store, "answers", batches(np.arange(10)))
    assert open_table(store, "answers").num_rows == 10
    assert [path.name for path in (store.path / "tables").iterdir()] == ["answers"]


def test_blocks_are_written_partition_by_partition(store):
    blocks = [pa.table({"node": store.partition(number).ids[::-1]}) for number in range(3)]
    assert write_blocks(store, "predictions", blocks).num_rows == 40
    with pytest.raises(InvalidData, match="holds nodes of another partition"):
        write_blocks(store, "predictions", blocks[::-1])
    with pytest.raises(InvalidParameter, match="must be 3 tables"):
        write_blocks(store, "predictions", blocks[:2])


def test_damage_and_unknown_names_are_told(store):
    with pytest.raises(InvalidData, match="has no table 'answers'; it has no tables"):
        open_table(store, "answers")
    table = write_table(store, "answers", batches(np.arange(40)))
    path = table.path / "part-00001.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(InvalidData, match=r"part-00001.parquet is damaged"):
        table.read(1)
    with pytest.raises(InvalidData, match="has no column 'node'"):
        write_table(store, "other", [pa.table({"x": [1]})])
    with pytest.raises(InvalidParameter, match="letters, digits"):
        write_table(store, "../other", batches(np.arange(3)))
