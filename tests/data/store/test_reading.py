"""Reading a store: damage is found and named."""

from __future__ import annotations

import numpy as np
import pytest
from stored_graphs import random_pattern, stored

from privet.data.store import GraphStore
from privet.errors import InvalidData, InvalidParameter


@pytest.fixture
def store(tmp_path):
    return stored(tmp_path, random_pattern(2, 40), 3)


def test_the_halo_is_exactly_what_the_columns_refer_to(store):
    for number in range(3):
        part = store.partition(number)
        outside = part.columns[part.columns >= part.entry.rows]
        assert set(outside - part.entry.rows) == set(range(part.entry.halo))
        assert all(owner != number for owner, _ in part.halo_groups())
        assert sum(len(places) for _, places in part.halo_groups()) == part.entry.halo


@pytest.mark.parametrize("name", ["columns", "pointers", "halo", "halo_pointers", "ids"])
def test_a_flipped_bit_is_found(store, name):
    path = store.partition(1).folder / f"{name}.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(InvalidData) as caught:
        store.check()
    assert str(caught.value).startswith(f"{path} is damaged: its checksum is not the manifest's.")


def test_a_short_or_missing_file_is_found(store):
    path = store.partition(1).folder / "columns.npy"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(InvalidData, match="is damaged: it has"):
        store.check()
    np.save(path, np.zeros(3, np.int32))
    with pytest.raises(InvalidData, match="is damaged: it holds"):
        store.partition(1).columns  # noqa: B018
    path.unlink()
    with pytest.raises(InvalidData, match=r"columns.npy is missing\."):
        store.partition(1).columns  # noqa: B018


def test_a_directory_without_a_manifest_is_no_store(tmp_path):
    with pytest.raises(InvalidData, match=r"is no graph store: it has no store\.json"):
        GraphStore.open(tmp_path)
    (tmp_path / "store.json").write_text("{}")
    with pytest.raises(InvalidData, match="is no manifest of the format privet-graph-store-1"):
        GraphStore.open(tmp_path)


def test_ids_and_partitions_are_checked(store):
    with pytest.raises(InvalidData, match="from 0 to 39"):
        store.rows_of([3, 40])
    with pytest.raises(InvalidParameter, match="from 0 to 2"):
        store.partition(3)
