"""Public bytes have one copy for all readers; files for the operator are gone when the first byte leaves."""

import asyncio
import tempfile

import numpy as np
import pytest
from simulated_studies import make_study

from privet.collection.downloads import DOWNLOADS
from privet.collection.server.http.participant_routes import PublicCache
from privet.collection.server.http.replies import Refused, pieces_of_bytes, pieces_of_file
from privet.collection.server.store.store import Store
from privet.release.blobs import array_digest, blob_of


def test_a_file_is_nowhere_while_it_is_read(tmp_path, monkeypatch):
    store = Store.open(tmp_path / "store.sqlite", make_study())
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    whole = {"record", "results", "results-csv"}
    for form in set(DOWNLOADS) - {"panel"}:
        file, name = DOWNLOADS[form].make(store)
        assert list((tmp_path / "temporary").iterdir()) == []
        assert name == (DOWNLOADS[form].file if form in whole else f"round-1-answers.{form}")
        assert len(file.read()) > 40
        file.close()
    store.dispose()


def test_what_a_round_does_not_have_is_refused(tmp_path):
    panel = np.array([1, 2], dtype=np.int32)
    shown = Store.open(tmp_path / "panel.sqlite", make_study(release=[], panel=array_digest(panel)))
    shown.publish(blob_of(panel))
    asked = Store.open(tmp_path / "asked.sqlite", make_study())
    for store, form in ((shown, "parquet"), (shown, "csv"), (asked, "panel")):
        with pytest.raises(Refused) as caught:
            DOWNLOADS[form].make(store)
        assert caught.value.status == 404
    file, name = DOWNLOADS["panel"].make(shown)
    assert (name, file.read().startswith(b"node,feature_0")) == ("round-1-panel.csv", True)
    file.close()
    shown.dispose()
    asked.dispose()


def test_a_file_is_closed_whether_or_not_all_of_it_is_wanted(tmp_path):
    (tmp_path / "big").write_bytes(bytes(600_000))

    async def read(most):
        file = (tmp_path / "big").open("rb")
        sizes, stream = [], pieces_of_file(file)
        async for piece in stream:
            sizes.append(len(piece))
            if len(sizes) == most:
                break
        await stream.aclose()
        return sum(sizes), file.closed

    assert asyncio.run(read(10)) == (600_000, True)
    assert asyncio.run(read(1)) == (1 << 18, True)


class Source:
    """Bytes by name, and the names that were asked for."""

    def __init__(self, **content):
        self.content, self.asked = content, []

    def read(self, digest):
        self.asked.append(digest)
        known = self.content.get(digest)
        return None if known is None else bytes(bytearray(known))  # a new copy each time


def test_readers_who_come_at_once_share_one_copy():
    source = Source(a=b"x" * 1000)

    async def many():
        cache = PublicCache(source.read)
        return await asyncio.gather(*(cache.get("a") for _ in range(100)))

    found = asyncio.run(many())
    assert (len({id(each) for each in found}), source.asked) == (1, ["a"])


def test_the_oldest_go_first_and_what_is_missing_is_not_kept():
    source = Source(a=b"x" * 40, b=b"y" * 40, c=b"z" * 40, large=b"l" * 500)

    async def one_after_another():
        cache = PublicCache(source.read, most=100)
        for each in ("a", "b", "a", "c", "a", "b", "none", "none", "large", "large"):
            assert await cache.get(each) == source.content.get(each)

    asyncio.run(one_after_another())
    assert source.asked == ["a", "b", "c", "b", "none", "none", "large"]


def test_pieces_are_the_whole():
    async def joined(content):
        return [piece async for piece in pieces_of_bytes(content)]

    content = bytes(range(256)) * 1000
    pieces = asyncio.run(joined(content))
    assert b"".join(pieces) == content
    assert max(map(len, pieces)) == 1 << 16
