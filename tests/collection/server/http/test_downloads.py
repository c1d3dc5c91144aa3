"""Files for the operator: they have no place any more when the first byte leaves."""

import asyncio
import tempfile

import numpy as np
import pytest
from simulated_studies import make_study

from privet.collection.server.http.downloads import FORMS, file_of, pieces
from privet.collection.server.http.intake import Refused
from privet.collection.server.store.store import Store
from privet.release.blobs import array_digest, blob_of


def test_a_file_is_nowhere_while_it_is_read(tmp_path, monkeypatch):
    store = Store.open(tmp_path / "store.sqlite", make_study())
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    for form in set(FORMS) - {"panel"}:
        file, name, kind = file_of(store, form)
        assert (list((tmp_path / "temporary").iterdir()), "/" in kind) == ([], True)
        assert name == ("record.sqlite" if form == "record" else f"round-1-answers.{form}")
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
            file_of(store, form)
        assert caught.value.status == 404
    file, name, _ = file_of(shown, "panel")
    assert (name, file.read().startswith(b"node,feature_0")) == ("round-1-panel.csv", True)
    file.close()
    shown.dispose()
    asked.dispose()


def test_a_file_is_closed_whether_or_not_all_of_it_is_wanted(tmp_path):
    (tmp_path / "big").write_bytes(bytes(600_000))

    async def read(most):
        file = (tmp_path / "big").open("rb")
        sizes, stream = [], pieces(file)
        async for piece in stream:
            sizes.append(len(piece))
            if len(sizes) == most:
                break
        await stream.aclose()
        return sum(sizes), file.closed

    assert asyncio.run(read(10)) == (600_000, True)
    assert asyncio.run(read(1)) == (1 << 18, True)
