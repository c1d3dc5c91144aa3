"""Backups: whole or not there, of one moment while collectors run, and nothing damaged comes back from one."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time

import pytest
from simulated_studies import STORES, make_study, simulated, store_place

from privet.collection.operator.backup import DamagedBackup, open_backup, tables, write_backup
from privet.collection.operator.folder import StudyFolder
from privet.collection.server.store.database import REPORTS
from privet.collection.server.store.store import Store


def bodies_in(path):
    """The reports of a backup by node."""
    with open_backup(path) as backup:
        return {row[1]: row[3] for rows in backup.rows(REPORTS) for row in rows}


@pytest.fixture(params=STORES)
def filled(request, tmp_path):
    """A study with 300 reports, conflicts, refusals and a revoked token, next to another study."""
    study = make_study(nodes=4000)
    place = store_place(request.param, tmp_path)
    if request.param == "postgresql":
        other = Store.open(place, make_study())
        other.insert([1, 2], [b"x", b"y"])
        other.dispose()
    folder = StudyFolder.create(tmp_path / "study", study, None if request.param == "sqlite" else place)
    answers = simulated(study, 0, count=300)
    store = folder.store()
    store.insert(answers.users.tolist(), study.release.wire.pack(answers))
    store.insert([int(answers.users[0])], [b"another"])
    store.reject({"token": 3, "Too large": 1})
    store.revoke(7, 0)
    store.add_model({"name": "m", "erasures": 0})
    yield folder, store
    store.dispose()


def test_every_row_of_the_study_is_in_it_and_no_other(filled, tmp_path):
    folder, store = filled
    assert write_backup(folder.path, tmp_path / "backup") == 300
    assert stat.S_IMODE((tmp_path / "backup").stat().st_mode) == 0o600
    assert bodies_in(tmp_path / "backup") == store.bodies(range(4000))
    with open_backup(tmp_path / "backup") as backup:
        counts = {table.name: sum(map(len, backup.rows(table))) for table in tables()}
        assert backup.facts["study"] == folder.study.id
        assert "keys" not in backup.facts
    for name, count in {"studies": 1, "conflicts": 1, "rejections": 2, "revoked": 1, "models": 1}.items():
        assert counts[name] == count
    content = (tmp_path / "backup").read_bytes()
    assert folder.keys.operator[0].encode() not in content
    assert folder.keys.signing[0].hex().encode() not in content


def test_keys_are_in_it_only_if_asked_for(filled, tmp_path):
    folder, _ = filled
    write_backup(folder.path, tmp_path / "backup", with_keys=True)
    with open_backup(tmp_path / "backup") as backup:
        assert folder.keys.operator[0] in backup.facts["keys"]
    assert b"postgresql://" not in (tmp_path / "backup").read_bytes()


def test_an_erased_report_is_in_no_free_page(folder, tmp_path):
    store = folder.store()
    store.insert([1, 2], [b"ERASED" * 20, b"kept"])
    with sqlite3.connect(folder.path / "reports.sqlite") as raw:
        raw.execute("DELETE FROM reports WHERE node = 1")
    raw.close()
    write_backup(folder.path, tmp_path / "backup")
    assert b"ERASED" not in (tmp_path / "backup").read_bytes()
    store.dispose()


def test_damage_is_found_wherever_it_matters(folder, tmp_path):
    answers = simulated(folder.study, 0, count=50)
    store = folder.store()
    store.insert(answers.users.tolist(), folder.study.release.wire.pack(answers))
    write_backup(folder.path, tmp_path / "backup")
    whole, known = (tmp_path / "backup").read_bytes(), store.bodies(range(500))
    found = 0
    for at in range(0, len(whole), 37):
        damaged = bytearray(whole)
        damaged[at] ^= 0x41
        (tmp_path / "damaged").write_bytes(damaged)
        try:
            assert bodies_in(tmp_path / "damaged") == known  # a byte that means nothing
        except DamagedBackup:
            found += 1
    assert found > 20
    for cut in (0, 10, 4096, len(whole) // 2, len(whole) - 4096):
        (tmp_path / "damaged").write_bytes(whole[:cut])
        with pytest.raises(DamagedBackup):
            bodies_in(tmp_path / "damaged")
    with pytest.raises(DamagedBackup, match="no such file"):
        bodies_in(tmp_path / "nowhere")
    store.dispose()


def test_a_row_that_is_missing_or_was_added_is_noticed(folder, tmp_path):
    store = folder.store()
    store.insert([1, 2], [b"one", b"two"])
    store.dispose()
    for change in ("DELETE FROM reports WHERE node = 1", "INSERT INTO revoked VALUES (1, 2, 3)"):
        write_backup(folder.path, tmp_path / "backup")
        with sqlite3.connect(tmp_path / "backup") as raw:
            raw.execute(change)
        raw.close()
        with pytest.raises(DamagedBackup, match="checksum"):
            bodies_in(tmp_path / "backup")


def test_everything_acknowledged_before_it_began_is_in_it(filled, tmp_path):
    """A writer goes on all the while; each backup is the state of one moment."""
    folder, store = filled
    answers = simulated(folder.study, 1, count=3000)
    bodies = dict(zip(answers.users.tolist(), folder.study.release.wire.pack(answers), strict=True))
    acknowledged, stop = set(store.bodies(range(4000))), threading.Event()
    todo = [node for node in bodies if node not in acknowledged]

    def write():
        for start in range(0, len(todo), 20):
            if stop.is_set():
                return
            some = todo[start : start + 20]
            store.insert(some, [bodies[node] for node in some])
            acknowledged.update(some)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(4):
            before = set(acknowledged)
            write_backup(folder.path, tmp_path / f"backup{number}")
            found = set(bodies_in(tmp_path / f"backup{number}"))
            assert before <= found
            # Of one moment: groups of 20 are there whole or not at all.
            new = found & set(todo)
            assert all(
                len(new & set(todo[at : at + 20])) in (0, len(todo[at : at + 20])) for at in range(0, len(todo), 20)
            )
    finally:
        stop.set()
        writer.join()


@pytest.mark.journey
def test_a_killed_backup_leaves_the_old_one(folder, tmp_path):
    store = folder.store()
    store.insert(range(400), [bytes(2000)] * 400)
    store.dispose()
    out = tmp_path / "out" / "backup"
    out.parent.mkdir()
    command = [sys.executable, "-m", "privet.cli", "study", "backup", str(folder.path), "--out", str(out)]
    killed = 0
    for attempt in range(60):
        before = out.read_bytes() if out.exists() else None
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            while process.poll() is None and not list(out.parent.glob(".backup*")):
                time.sleep(0.001)
            time.sleep(0.004 * (attempt % 6))
            process.send_signal(signal.SIGKILL)
            killed += process.wait() == -signal.SIGKILL
        if out.exists() and out.read_bytes() != before:
            assert len(bodies_in(out)) == 400  # it was quicker than the signal
        for left in out.parent.glob(".backup*"):
            assert stat.S_IMODE(os.stat(left).st_mode) == 0o600
            left.unlink()
        if attempt >= 5 and killed > 2:
            break
    assert killed > 2
