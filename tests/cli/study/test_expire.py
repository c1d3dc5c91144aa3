"""``privet study expire`` for studies whose collector does not run."""

import json

import pytest
from simulated_studies import make_study, privet, simulated, two_rounds

from privet.collection.operator.folder import StudyFolder

pytest.importorskip("starlette", reason="the collection extra is not installed")


def filled(path, **changes):
    study = make_study(**changes)
    folder, answers = StudyFolder.create(path, study), simulated(study, 0, count=2)
    store = folder.store()
    store.insert(answers.users.tolist(), study.release.wire.pack(answers))
    store.dispose()
    return folder.path


def test_what_is_due_is_deleted_and_counted(tmp_path):
    path = filled(tmp_path / "due", closes="2020-02-01T00:00:00Z", delete_after=30)
    assert "Reports are deleted on 2020-03-02." in privet("study", "status", path, home=tmp_path)
    assert "Deleted 2 reports." in privet("study", "expire", path, home=tmp_path)
    status = json.loads(privet("study", "status", path, "--json", home=tmp_path))
    assert (status["stored"], status["deleted"]["reports"]) == (0, 2)
    assert "2 reports were deleted on" in privet("study", "status", path, home=tmp_path)


def test_what_is_not_due_stays_unless_the_operator_wants_it_gone(tmp_path):
    path = filled(tmp_path / "later", closes="2029-02-01T00:00:00Z", delete_after=30)
    printed = privet("study", "expire", path, home=tmp_path)
    assert "Deleted 0 reports." in printed
    assert "Left: 2, to be deleted on 2029-03-03 00:00 UTC." in printed
    assert "Deleted 2 reports." in privet("study", "expire", path, "--now", home=tmp_path)
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
    assert "Left in round 1: 2, to be deleted on 2029-03-03 00:00 UTC." in printed
    assert "Left in round 2: 1, to be deleted on" in printed
