"""``privet study forget``: the report is in no table, export or backup made later, and the count of erasures is."""

import json
import sqlite3

import pytest
from simulated_studies import declaration, make_study, privet, simulated

from privet.collection.operator.export.answer_files import read_answers, read_erasures
from privet.collection.operator.folder import StudyFolder

pytest.importorskip("starlette", reason="the collection extra is not installed")


@pytest.fixture
def folder(tmp_path):
    study = make_study(nodes=20)
    made, answers = StudyFolder.create(tmp_path / "study", study), simulated(study, 0, count=8)
    store = made.store()
    store.insert(answers.users.tolist(), study.release.wire.pack(answers))
    store.dispose()
    return made, int(answers.users[3])


def test_after_it_the_report_is_nowhere_and_the_count_is(folder, tmp_path):
    made, node = folder
    declined = privet("study", "forget", made.path, node, home=tmp_path, given="n\n", status=2)
    assert "Nothing was changed, because you did not agree." in declined
    assert json.loads(privet("study", "status", made.path, "--json", home=tmp_path))["stored"] == 8
    printed = privet("study", "forget", made.path, node, home=tmp_path, given="y\n")
    assert f"Erase all that node {node} sent, for good" in printed
    assert f"The reports of node {node} are erased" in printed
    assert "Exports and backups that you made before still hold them" in printed
    again = privet("study", "forget", made.path, node, "--yes", home=tmp_path)
    assert f"The reports of node {node} were erased" in again
    status = json.loads(privet("study", "status", made.path, "--json", home=tmp_path))
    assert (status["stored"], status["erasures"]) == (7, 1)
    exported = tmp_path / "reports.parquet"
    assert "(1 erased before)" in privet("study", "export", made.path, "--out", exported, home=tmp_path)
    assert node not in read_answers(exported)[1].users
    assert read_erasures(exported) == 1
    with sqlite3.connect(made.path / "reports.sqlite") as live, sqlite3.connect(tmp_path / "backup") as copy:
        live.backup(copy)
        assert copy.execute("SELECT count(*) FROM reports WHERE node = ?", (node,)).fetchone() == (0,)
        assert copy.execute("SELECT node FROM erased").fetchall() == [(node,)]


def test_somebody_who_is_not_in_the_study_is_refused(folder, tmp_path):
    error = privet("study", "forget", folder[0].path, 20, "--yes", home=tmp_path, status=2)
    assert "below 20" in error


def test_a_new_study_promises_deletion_unless_its_operator_says_otherwise(tmp_path):
    printed = privet("study", "new", declaration(tmp_path), "--out", tmp_path / "study", home=tmp_path)
    assert "deletes reports 90 days after the study closes" in printed
    assert StudyFolder.open(tmp_path / "study").study.delete_after == 90
    change = ["--set", "schedule.delete_after=7"]
    privet("study", "new", declaration(tmp_path), "--out", tmp_path / "other", *change, home=tmp_path)
    assert StudyFolder.open(tmp_path / "other").study.delete_after == 7
    change = ["--set", "schedule.delete_after=never"]
    privet("study", "new", declaration(tmp_path), "--out", tmp_path / "kept", *change, home=tmp_path)
    assert StudyFolder.open(tmp_path / "kept").study.delete_after is None
