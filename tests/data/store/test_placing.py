"""The numbering of nodes by partitions: every id has one row, and rows of a partition are neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from privet.data.store import placing
from privet.data.store.placing import hashed, place

NODES = np.arange(23)


@pytest.mark.parametrize("by", ["id", "hash", "given"])
@pytest.mark.parametrize("chunk", [5, 1 << 22])
def test_rows_and_ids_are_inverse_and_partitions_are_ranges(tmp_path, monkeypatch, by, chunk):
    monkeypatch.setattr(placing, "_CHUNK", chunk)
    parts = {"id": NODES * 4 // 23, "hash": hashed(NODES, 4), "given": np.random.default_rng(0).integers(4, size=23)}[
        by
    ]
    placement, files = place(tmp_path, 23, 4, by, parts if by == "given" else None)
    rows = placement.rows(NODES)
    np.testing.assert_array_equal(placement.ids(rows), NODES)
    np.testing.assert_array_equal(np.sort(rows), NODES)
    if by != "id":
        np.testing.assert_array_equal(np.searchsorted(placement.starts, rows, side="right") - 1, parts)
        for part in range(4):
            assert (np.diff(rows[parts == part]) == 1).all()  # in the order of their ids
    assert (placement.starts[0], placement.starts[-1]) == (0, 23)
    assert [entry.name for entry in files] == ([] if by == "id" else ["rows.npy"])


def test_a_partition_may_be_empty(tmp_path):
    placement, _ = place(tmp_path, 3, 4, "given", np.array([3, 0, 3]))
    assert placement.starts.tolist() == [0, 1, 1, 1, 3]
    assert placement.ids(np.arange(3)).tolist() == [1, 0, 2]


def test_the_hash_is_fixed():
    assert hashed(np.array([0, 1, 2, 1 << 40]), 1000).tolist() == [535, 465, 110, 641]  # stores that exist depend on it
