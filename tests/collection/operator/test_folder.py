"""A study's directory: whole or not there, and its secrets are its owner's."""

import csv
import stat

import pytest
from simulated_studies import make_study

from privet.collection.operator.folder import StudyFolder, open_reports
from privet.errors import InvalidData, InvalidParameter


def test_what_was_made_is_opened(folder, study):
    again = StudyFolder.open(folder.path)
    assert again == folder
    assert again.study == study
    with (folder.path / "tokens.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [again.tokens.check(row["token"]) for row in rows] == [int(row["node"]) for row in rows]
    assert len(rows) == study.nodes


def test_secrets_are_readable_by_their_owner_only(folder):
    for name in ("keys.json", "tokens.csv"):
        assert stat.S_IMODE((folder.path / name).stat().st_mode) == 0o600


def test_secrets_do_not_show(folder):
    for shown in (repr(folder), repr(folder.keys), repr(folder.tokens), repr(folder.access())):
        assert folder.keys.operator[0] not in shown
        assert folder.keys.signing[0].hex() not in shown
        assert repr(folder.keys.signing[0]) not in shown


def test_an_existing_directory_is_left_alone(folder, study):
    with pytest.raises(InvalidParameter, match="new or empty"):
        StudyFolder.create(folder.path, study)
    assert StudyFolder.open(folder.path) == folder


@pytest.mark.parametrize("damage", ["study.json", "keys.json"])
def test_damage_is_told_in_one_sentence(folder, damage):
    (folder.path / damage).write_text("{}")
    with pytest.raises(InvalidData):
        StudyFolder.open(folder.path)
    (folder.path / damage).unlink()
    with pytest.raises(InvalidData, match="a study's directory"):
        StudyFolder.open(folder.path)


def test_reports_come_out_validated(folder):
    store = folder.store()
    form = folder.study.release.wire
    body = form.from_json({"features": {"coordinates": [1], "symbols": [1]}, "label": 2})
    store.insert([3, 1], [body, body])
    store.dispose()
    study, answers = open_reports(folder.path)
    assert study == folder.study
    assert answers.users.tolist() == [1, 3]
    other = make_study()
    assert other.id != study.id
