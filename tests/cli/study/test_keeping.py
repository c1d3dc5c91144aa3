"""Exports, backups, deletion and keys of a study on the command line."""

import json
from datetime import UTC, datetime

import pytest
from simulated_studies import declaration, make_study, privet, simulated, two_rounds

from privet.collection.device.consent import local_minute
from privet.collection.operator.folder import StudyFolder

pytest.importorskip("starlette", reason="the collection extra is not installed")


def test_it_says_what_is_in_the_file(tmp_path):
    privet("study", "new", declaration(tmp_path), "--out", tmp_path / "study", home=tmp_path)
    printed = privet("study", "backup", tmp_path / "study", "--out", tmp_path / "b", home=tmp_path)
    assert "Wrote 0 reports" in printed
    assert "no keys" in printed
    secret = privet("study", "backup", tmp_path / "study", "--out", tmp_path / "b", "--with-keys", home=tmp_path)
    assert "the keys, which makes it a secret" in secret
    error = privet("study", "backup", tmp_path / "study", "--out", tmp_path / "no" / "b", home=tmp_path, status=2)
    assert error.count("\n") == 1


def test_a_study_comes_back_and_links_are_spoken_of(tmp_path):
    privet("study", "new", declaration(tmp_path), "--out", tmp_path / "study", home=tmp_path)
    privet("study", "close", tmp_path / "study", home=tmp_path)
    privet("study", "backup", tmp_path / "study", "--out", tmp_path / "b", home=tmp_path)
    printed = privet("study", "restore", tmp_path / "b", tmp_path / "new", home=tmp_path)
    assert "Restored 0 reports of 'Habits'" in printed
    assert "20 links must be sent again" in printed
    assert "The backup is less than an hour old." in printed
    assert "Erasures, revocations and key rotations since then are not in it and must be repeated" in printed
    assert json.loads(privet("study", "status", tmp_path / "new", "--json", home=tmp_path))["open"] is False
    for file, place, expected in (("b", "new", "not empty"), ("schema.json", "x", "no whole backup")):
        error = privet("study", "restore", tmp_path / file, tmp_path / place, home=tmp_path, status=2)
        assert expected in error
        assert error.count("\n") == 1


def test_keys_are_added_and_retired(tmp_path):
    privet("study", "new", declaration(tmp_path), "--out", tmp_path / "study", home=tmp_path)
    before = StudyFolder.open(tmp_path / "study")
    nothing = privet("study", "rotate", tmp_path / "study", "tokens", "--retire", home=tmp_path, status=2)
    assert "nothing to retire" in nothing
    assert "send 20 new ones" in privet("study", "rotate", tmp_path / "study", "tokens", home=tmp_path)
    told = privet("study", "rotate", tmp_path / "study", "tokens", "--retire", home=tmp_path)
    assert "20 links must be sent again" in told
    assert "20 of them to people who have not answered" in told
    told = privet("study", "rotate", tmp_path / "study", "operator", home=tmp_path)
    assert "2 keys open" in told
    assert "keys.json" in told
    after = StudyFolder.open(tmp_path / "study")
    assert after.keys.operator[1:] == before.keys.operator
    assert not any(key in told for key in after.keys.operator)
    assert len(after.keys.signing) == 1
    assert after.keys.signing != before.keys.signing


def filled(path, **changes):
    study = make_study(**changes)
    folder, answers = StudyFolder.create(path, study), simulated(study, 0, count=2)
    store = folder.store()
    store.insert(answers.users.tolist(), study.release.wire.pack(answers))
    store.dispose()
    return folder.path


def test_what_is_due_is_deleted_and_counted(tmp_path):
    path = filled(tmp_path / "due", closes="2020-02-01T00:00:00Z", delete_after=30)
    told = privet("study", "status", path, home=tmp_path)
    assert "The retention of 2 reports has ended by this machine's clock; 'privet study expire' deletes them." in told
    asked = privet("study", "expire", path, home=tmp_path, given="n\n", status=2)
    assert "Nothing was changed, because you did not agree." in asked
    assert "--yes agrees beforehand" in privet("study", "expire", path, home=tmp_path, status=2)
    asked = privet("study", "expire", path, home=tmp_path, given="y\n")
    assert f"This machine's clock says {datetime.now(UTC).astimezone():%Y-}" in asked
    assert "The retention has ended for 2 reports: delete them?" in asked
    assert "Deleted 2 reports." in asked
    status = json.loads(privet("study", "status", path, "--json", home=tmp_path))
    assert (status["stored"], status["deleted"]["reports"]) == (0, 2)
    assert "2 reports were deleted on" in privet("study", "status", path, home=tmp_path)


def test_what_is_not_due_stays_unless_the_operator_wants_it_gone(tmp_path):
    path = filled(tmp_path / "later", closes="2029-02-01T00:00:00Z", delete_after=30)
    due = local_minute(datetime(2029, 3, 3, tzinfo=UTC))
    assert f"Reports are deleted on {due}." in privet("study", "status", path, home=tmp_path)
    printed = privet("study", "expire", path, home=tmp_path)
    assert "Deleted 0 reports." in printed
    assert f"Left: 2, to be deleted on {due}." in printed
    assert "Deleted 2 reports." in privet("study", "expire", path, "--now", "--yes", home=tmp_path)
    assert json.loads(privet("study", "status", path, "--json", home=tmp_path))["open"] is False


def test_without_a_promise_it_says_so(tmp_path):
    path = filled(tmp_path / "kept", delete_after=None)
    assert "never: the manifest promises no deletion" in privet("study", "expire", path, home=tmp_path)
    assert "Reports are kept." in privet("study", "status", path, home=tmp_path)


def test_each_round_has_its_own_date(tmp_path):
    first, second = two_rounds(delete_after=30, closes="2029-02-01T00:00:00Z")
    folder = StudyFolder.create(tmp_path / "rounds", first)
    store = folder.store()
    store.insert([1, 2], [b"one", b"two"])
    store.at(second).insert([3], [b"three"])
    store.dispose()
    printed = privet("study", "expire", folder.path, home=tmp_path)
    assert f"Left in round 1: 2, to be deleted on {local_minute(datetime(2029, 3, 3, tzinfo=UTC))}." in printed
    assert "Left in round 2: 1, to be deleted on" in printed
