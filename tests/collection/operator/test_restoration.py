"""Restoration: into either kind of store, only what is whole and valid, and only where nothing is."""

import os
import sqlite3
import time

import pytest
from simulated_studies import STORES, make_study, simulated, store_place

from privet.collection.operator import backup as module
from privet.collection.operator.backup import DamagedBackup, write_backup
from privet.collection.operator.folder import StudyFolder, open_reports
from privet.collection.operator.restoration import restore_backup
from privet.collection.study.tokens import InvalidToken
from privet.errors import InvalidData, InvalidParameter, InvalidReports


@pytest.fixture
def known(tmp_path):
    """A study in SQLite with 200 reports, and its backup with keys."""
    folder = StudyFolder.create(tmp_path / "study", make_study())
    answers = simulated(folder.study, 0, count=200)
    store = folder.store()
    store.insert(answers.users.tolist(), folder.study.release.wire.pack(answers))
    store.insert([int(answers.users[0])], [b"another"])
    store.reject({"token": 3})
    store.revoke(7, 0)
    store.add_model({"name": "m", "erasures": 0})
    store.forget(int(answers.users[-1]), "operator")
    store.close()
    write_backup(folder.path, tmp_path / "backup", with_keys=True)
    yield folder, store
    store.dispose()


@pytest.mark.parametrize("kind", STORES)
def test_a_study_comes_back_as_it_was(known, tmp_path, kind, monkeypatch):
    folder, store = known
    if kind == "postgresql":
        monkeypatch.setitem(os.environ, "PRIVET_STORE", store_place(kind, tmp_path))
    done = restore_backup(tmp_path / "backup", tmp_path / "new")
    assert (done.reports, done.same_links) == (199, True)
    assert 0 <= time.time() - done.made < 3600
    assert (tmp_path / "new" / "reports.sqlite").exists() == (kind == "sqlite")
    again = StudyFolder.open(tmp_path / "new")
    assert again == done.folder
    restored = again.store()
    nodes = range(folder.study.nodes)
    assert restored.bodies(nodes) == store.bodies(nodes)
    assert restored.timeline() == store.timeline()
    assert (restored.conflicts(), restored.rejections(), restored.models()) == (1, {"token": 3}, store.models())
    assert restored.erasures() == store.erasures()
    assert len(restored.erasures()) == 1
    assert restored.revoked() == {(7, 0)}
    assert restored.is_closed()
    assert again.tokens.check(folder.tokens.issue(3)) == 3
    assert open_reports(tmp_path / "new")[0] == folder.study
    restored.dispose()
    with pytest.raises(InvalidParameter, match="not empty"):
        restore_backup(tmp_path / "backup", tmp_path / "new")
    if kind == "postgresql":
        with pytest.raises(InvalidData, match="already"):
            restore_backup(tmp_path / "backup", tmp_path / "newer")
        assert not (tmp_path / "newer").exists()
        # And from PostgreSQL back to SQLite.
        write_backup(tmp_path / "new", tmp_path / "second")
        monkeypatch.delitem(os.environ, "PRIVET_STORE")
        assert restore_backup(tmp_path / "second", tmp_path / "third").reports == 199


def test_without_keys_new_ones_are_made(known, tmp_path):
    folder, _ = known
    write_backup(folder.path, tmp_path / "public")
    done = restore_backup(tmp_path / "public", tmp_path / "new")
    assert not done.same_links
    assert done.folder.keys.operator != folder.keys.operator
    with pytest.raises(InvalidToken):
        done.folder.tokens.check(folder.tokens.issue(3))


def test_a_damaged_file_restores_nothing(known, tmp_path):
    content = bytearray((tmp_path / "backup").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "damaged").write_bytes(content[: len(content) // 2])
    with pytest.raises(DamagedBackup, match="Nothing was restored"):
        restore_backup(tmp_path / "damaged", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_report_that_no_device_could_have_sent_restores_nothing(known, tmp_path, monkeypatch):
    """The checksum is right, but whoever made the file put something else in."""
    with sqlite3.connect(tmp_path / "backup") as raw:
        raw.execute("UPDATE reports SET body = x'ff' WHERE node = (SELECT min(node) FROM reports)")
        facts = dict(raw.execute("SELECT name, value FROM backup WHERE name != 'digest'"))

        def rows(table):
            yield raw.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()

        digest = module._digest(facts, ((table.name, rows(table.name)) for table in module.tables()))
        raw.execute("UPDATE backup SET value = ? WHERE name = 'digest'", [digest])
    raw.close()
    with pytest.raises(InvalidReports):
        restore_backup(tmp_path / "backup", tmp_path / "new")
    assert not (tmp_path / "new").exists()
