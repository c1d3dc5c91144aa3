"""A store's manifest: read as it was written, and everything else is refused in one sentence."""

from __future__ import annotations

import json

import pytest

from privet.data.store.manifest import NAME, Manifest, PartitionEntry, folder_of
from privet.errors import InvalidData

PARTS = tuple(
    PartitionEntry(rows=rows, entries=10 * rows, halo=rows + 1, loops=1, merged=0, files=()) for rows in (3, 4)
)
WHOLE = Manifest(nodes=7, directed=False, by="hash", partitions=PARTS, files=())


def test_it_is_read_as_it_was_written(tmp_path):
    WHOLE.write(tmp_path)
    found = Manifest.read(tmp_path)
    assert found == WHOLE
    assert (found.entries, found.halo, found.loops) == (70, 9, 2)
    assert folder_of(12) == "part-00012"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"format": "privet-graph-store-2"}, "no manifest of the format privet-graph-store-1: format"),
        ({"nodes": 8}, "do not add up to 8 nodes"),
        ({"by": "luck"}, "by: "),
        ({"more": 1}, "more: "),
    ],
)
def test_another_document_is_refused(tmp_path, change, told):
    (tmp_path / NAME).write_text(json.dumps(WHOLE.model_dump(mode="json") | change))
    with pytest.raises(InvalidData, match=told):
        Manifest.read(tmp_path)


def test_no_document_at_all(tmp_path):
    with pytest.raises(InvalidData, match="is no graph store"):
        Manifest.read(tmp_path)
    (tmp_path / NAME).write_text("{")
    with pytest.raises(InvalidData, match="is no manifest"):
        Manifest.read(tmp_path)
