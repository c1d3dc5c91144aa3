"""An export in parts: equal to the export in one file, bounded in memory, and whole after a kill."""

from __future__ import annotations

import os
import re
import secrets
import signal
import stat
import subprocess
import sys
import tracemalloc
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa
from patience import wait_until
from simulated_studies import STORES, make_study, store_place
from stored_graphs import random_pattern, stored

from privet.collection.downloads import write_csv
from privet.collection.operator.export import partitions
from privet.collection.operator.export.answer_files import write_answers
from privet.collection.operator.export.partitions import PartitionedAnswers, export_partitions, export_to_store
from privet.collection.operator.folder import StudyFolder, open_reports
from privet.collection.server.store.database import engine_for
from privet.data.store import open_table
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import SeededBits
from privet.release import Answers, PrivateData


def a_folder(path: Path, nodes: int, reports: int, url: str | None = None) -> StudyFolder:
    """A study with the reports of some of its people in its database."""
    study = make_study(nodes=nodes)
    folder = StudyFolder.create(path, study, url)
    rng = np.random.default_rng(0)
    users = np.sort(rng.choice(nodes, reports, replace=False))
    private = PrivateData(users, rng.uniform(0, 10, (reports, 6)), rng.integers(0, 3, reports))
    bodies = study.release.wire.pack(study.release.perturb(private, SeededBits(0)))
    store = folder.store()
    for start in range(0, reports, 10_000):
        store.insert(users[start : start + 10_000].tolist(), bodies[start : start + 10_000])
    store.dispose()
    return folder


def same(found: Answers, expected: Answers) -> bool:
    wire = expected.release.wire
    return np.array_equal(found.users, expected.users) and wire.pack(found) == wire.pack(expected)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> StudyFolder:
    return a_folder(tmp_path_factory.mktemp("large") / "study", nodes=60_000, reports=50_000)


@pytest.mark.parametrize("kind", STORES)
def test_the_parts_are_the_reports(kind: str, tmp_path: Path) -> None:
    place = store_place(kind, tmp_path)
    folder = a_folder(tmp_path / "study", 300, 200, None if kind == "sqlite" else str(place))
    found = export_partitions(folder, tmp_path / "out", 7)
    study, expected = open_reports(folder.path)
    assert (found.num_parts, found.num_reports, found.manifest.study) == (7, 200, study.id)
    assert same(found.answers()[1], expected)
    parts = [found.read(part)[1].users for part in range(7)]
    assert np.array_equal(np.concatenate(parts), expected.users)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "answers.json",
        *(f"part-{part:05d}.parquet" for part in range(7)),
    ]
    with pytest.raises(InvalidParameter, match="is not empty"):
        export_partitions(folder, tmp_path / "out", 7)


@pytest.mark.journey
def test_the_partitioned_table_of_the_documentation(tmp_path: Path) -> None:
    page = (Path(__file__).parents[4] / "docs" / "how-to" / "scale.md").read_text()
    url = sa.make_url(str(store_place("postgresql", tmp_path)))
    schema = f"test_{secrets.token_hex(8)}"
    engine = engine_for(url.render_as_string(hide_password=False))
    placed = url.update_query_dict({"options": f"-csearch_path={schema}"}).render_as_string(hide_password=False)
    try:
        with engine.begin() as connection:
            connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
            connection.exec_driver_sql(f"SET LOCAL search_path TO {schema}")
            connection.exec_driver_sql(re.search(r"^```sql\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1])
        folder = a_folder(tmp_path / "study", 300, 200, placed)
        found = export_partitions(folder, tmp_path / "out", 3)
        assert same(found.answers()[1], open_reports(folder.path)[1])
        with engine.begin() as connection:
            rows = connection.exec_driver_sql(f"SELECT count(*) FROM {schema}.reports_0").scalar()
        assert rows == 200
    finally:
        with engine.begin() as connection:
            connection.exec_driver_sql(f"DROP SCHEMA {schema} CASCADE")
        engine.dispose()


def test_memory_does_not_grow_with_the_reports(
    large: StudyFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "_BLOCK", 1_000)
    peaks = []
    for work in (lambda: open_reports(large.path), lambda: export_partitions(large, tmp_path / "out", 20)):
        tracemalloc.start()
        work()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] / 4
    assert PartitionedAnswers.open(tmp_path / "out").num_reports == 50_000


@pytest.mark.journey
def test_a_killed_export_goes_on(large: StudyFolder, tmp_path: Path) -> None:
    out, work = tmp_path / "out", tmp_path / "out.partial"
    command = [sys.executable, "-m", "privet.cli", "study", "export", large.path, "--partitions", "60", "--out", out]
    process = subprocess.Popen([*map(str, command)], env={**os.environ, "XDG_DATA_HOME": str(tmp_path)})
    wait_until(lambda: process.poll() is not None or len(list(work.glob("part-*.json"))) >= 3, pause=0.01)
    assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not out.exists()
    finished = {path: path.stat().st_mtime_ns for path in work.glob("part-*.parquet")}
    recorded = {path.with_suffix(".parquet") for path in work.glob("part-*.json")}
    damaged = min(recorded)
    damaged.write_bytes(damaged.read_bytes()[:-1])
    found = export_partitions(large, out, 60)
    kept = [path for path in recorded - {damaged} if (out / path.name).stat().st_mtime_ns == finished[path]]
    assert len(kept) == len(recorded) - 1  # what was finished is not made again
    assert same(found.answers()[1], open_reports(large.path)[1])
    assert not work.exists()


def test_people_erased_meanwhile_are_in_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = a_folder(tmp_path / "study", 300, 200)
    store = folder.store()
    victim = int(store.answers().users[0])
    export = partitions._export

    def erasing(task: object) -> None:
        export(task)
        if task.number == 4:  # the victim's part is finished by now
            store.forget(victim, "participant")

    monkeypatch.setattr(partitions, "_export", erasing)
    found = export_partitions(folder, tmp_path / "out", 5)
    assert victim not in found.answers()[1].users
    assert (found.num_reports, found.manifest.erasures) == (199, 1)
    store.dispose()


def test_reports_whose_retention_ends_meanwhile_are_in_no_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first parts were read before the deletion, and the others would be empty."""
    folder = a_folder(tmp_path / "study", 300, 200)
    store, export = folder.store(), partitions._export

    def expiring(task: object) -> None:
        export(task)
        if task.number == 2:
            store.expire(early=True)

    monkeypatch.setattr(partitions, "_export", expiring)
    with pytest.raises(InvalidData, match="retention of reports ended"):
        export_partitions(folder, tmp_path / "out", 5)
    assert [path.name for path in tmp_path.iterdir()] == ["study"]
    store.dispose()


def test_a_part_without_other_people_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One person is erased, the export stops, an older backup is restored, and another person of the part is erased."""
    folder = a_folder(tmp_path / "study", 50, 40)
    before = (folder.path / "reports.sqlite").read_bytes()
    first, second = open_reports(folder.path)[1].users[[3, 5]].tolist()

    def forget(node: int) -> None:
        store = folder.store()
        store.forget(node, "participant")
        store.dispose()

    forget(first)
    with monkeypatch.context() as stopped:
        stopped.setattr(partitions, "flush_file", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            export_partitions(folder, tmp_path / "out", 1)
    assert (tmp_path / "out.partial").stat().st_mode & 0o077 == 0
    (folder.path / "reports.sqlite").write_bytes(before)
    forget(second)
    found = export_partitions(folder, tmp_path / "out", 1)
    users = found.answers()[1].users.tolist()
    assert (second in users, first in users, found.manifest.erasures) == (False, True, 1)


def test_people_erased_while_the_table_is_written_are_not_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = a_folder(tmp_path / "study", 60, 40)
    graph = stored(tmp_path, random_pattern(3, 60), 4)
    victim = int(open_reports(folder.path)[1].users[4])
    write, written = partitions.write_table, []

    def slow(*given: object, **named: object) -> object:
        if not written:
            store = folder.store()
            store.forget(victim, "participant")
            store.dispose()
        written.append(named["about"])
        return write(*given, **named)

    monkeypatch.setattr(partitions, "write_table", slow)
    assert export_to_store(folder, graph) == 39
    table = open_table(graph, "answers")
    assert victim not in np.concatenate([table.read(part)["node"].to_numpy() for part in range(4)])
    assert table.manifest.about == {"study": folder.study.id, "erasures": 1}
    assert len(written) == 2


def test_nobody_else_may_read_exported_answers(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        folder = a_folder(tmp_path / "study", 60, 40)
        export_partitions(folder, tmp_path / "out", 2)
        graph = stored(tmp_path, random_pattern(3, 60), 4)
        export_to_store(folder, graph)
        study, answers = open_reports(folder.path)
        write_answers(tmp_path / "one.parquet", study, answers)
        write_csv(tmp_path / "one.csv", study, answers)
    finally:
        os.umask(before)
    table = open_table(graph, "answers").path
    files = [*(tmp_path / "out").iterdir(), *table.iterdir(), tmp_path / "one.parquet", tmp_path / "one.csv"]
    assert len(files) > 8
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "out", table)} == {0o700}
    assert stat.S_IMODE(table.parent.stat().st_mode) == 0o755  # as the rest of the store


def test_other_inputs_start_anew_and_damage_is_named(tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "study", 60, 40)
    work = tmp_path / "out.partial"
    work.mkdir()
    (work / "inputs.json").write_text("{}")
    (work / "part-00009.parquet").write_text("of another export")
    found = export_partitions(folder, tmp_path / "out", 2)
    assert not (tmp_path / "out" / "part-00009.parquet").exists()
    path = tmp_path / "out" / "part-00001.parquet"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InvalidData, match=r"part-00001\.parquet is damaged"):
        found.answers()
    with pytest.raises(InvalidParameter, match="from 1 to 60"):
        export_partitions(folder, tmp_path / "other", 61)
    with pytest.raises(InvalidParameter, match="There is no directory"):
        export_partitions(folder, tmp_path / "no" / "other", 2)


def test_reports_become_a_table_of_a_store(tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "study", 60, 40)
    store = stored(tmp_path, random_pattern(3, 60), 4)
    assert export_to_store(folder, store) == 40
    table = open_table(store, "answers")
    _, expected = open_reports(folder.path)
    ids = np.concatenate([table.read(part)["node"].to_numpy() for part in range(4)])
    assert np.array_equal(np.sort(ids), expected.users)
    labels = {}
    for part in range(4):
        rows = table.read(part)
        labels |= dict(zip(rows["node"].to_pylist(), rows["label"].to_pylist(), strict=True))
    assert [labels[user] for user in expected.users.tolist()] == expected["label"].reports.symbols[:, 0].tolist()
    assert pq.read_schema(table.path / table.manifest.files[0].name).names[0] == "node"
    assert not list(tmp_path.glob("store.answers*"))
    (tmp_path / "other").mkdir()
    smaller = stored(tmp_path / "other", random_pattern(3, 50), 2)
    with pytest.raises(InvalidData, match="of the study's 60 nodes"):
        export_to_store(folder, smaller)
