"""Secrets: one place each, never quoted, and replaced without a gap."""

import json
import os
import secrets
import stat

import pytest

from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.keys import InvalidKeys, Keys
from privet.collection.study.tokens import new_key

SIGNING, OPERATOR, URL = new_key().hex(), secrets.token_urlsafe(24), "postgresql://me:word@db/privet"


def test_fresh_keys_come_back_from_their_file(tmp_path):
    made = Keys.make(environment={})
    made.write(tmp_path / "keys.json")
    assert Keys.read(tmp_path / "keys.json", {}) == made
    assert (len(made.signing), len(made.operator), made.store) == (1, 1, None)
    assert stat.S_IMODE((tmp_path / "keys.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("in_files", [True, False])
def test_what_the_environment_gives_is_not_written_down(tmp_path, in_files):
    values = {"PRIVET_SIGNING_KEY": SIGNING, "PRIVET_OPERATOR_KEY": OPERATOR, "PRIVET_STORE": URL}
    environment = values
    if in_files:
        for name, value in values.items():
            (tmp_path / name).write_text(value + "\n")
        environment = {f"{name}_FILE": str(tmp_path / name) for name in values}
    made = Keys.make(environment=environment)
    assert (made.signing[0].hex(), made.operator[0], made.store) == (SIGNING, OPERATOR, URL)
    made.write(tmp_path / "keys.json")
    written = (tmp_path / "keys.json").read_text()
    assert not any(value in written for value in values.values())
    assert Keys.read(tmp_path / "keys.json", environment) == made
    with pytest.raises(InvalidKeys, match="Set PRIVET_SIGNING_KEY or PRIVET_SIGNING_KEY_FILE"):
        Keys.read(tmp_path / "keys.json", {})


def test_a_secret_has_one_place(tmp_path):
    Keys.make(environment={}).write(tmp_path / "keys.json")
    for name, value in {"PRIVET_SIGNING_KEY": SIGNING, "PRIVET_OPERATOR_KEY": OPERATOR, "PRIVET_STORE": URL}.items():
        with pytest.raises(InvalidKeys, match="Keep one of the two") as refused:
            Keys.read(tmp_path / "keys.json", {name: value})
        assert value not in str(refused.value)
    with pytest.raises(InvalidKeys, match="both set"):
        Keys.make(environment={"PRIVET_STORE": URL, "PRIVET_STORE_FILE": "x"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PRIVET_SIGNING_KEY", "abc"),
        ("PRIVET_OPERATOR_KEY", "short"),
        ("PRIVET_STORE", "mysql://me:word@db"),
        ("PRIVET_STORE", f"{URL} {URL}"),
        ("PRIVET_SIGNING_KEY_FILE", "/nowhere/at/all"),
    ],
)
def test_bad_secrets_are_refused_and_not_quoted(name, value):
    with pytest.raises(InvalidKeys, match=name) as refused:
        Keys.make(environment={name: value})
    assert "word" not in str(refused.value)
    assert "abc" not in str(refused.value)


def test_an_empty_file_is_no_secret(tmp_path):
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(InvalidKeys, match="PRIVET_OPERATOR_KEY_FILE must hold"):
        Keys.make(environment={"PRIVET_OPERATOR_KEY_FILE": str(tmp_path / "empty")})


@pytest.mark.parametrize("document", [{}, {"signing": "x", "operator": [], "store": None}, {"signing": [1]}, [], 3])
def test_damaged_files_are_told_of(tmp_path, document):
    (tmp_path / "keys.json").write_text(json.dumps(document))
    with pytest.raises(InvalidKeys, match=r"keys\.json"):
        Keys.read(tmp_path / "keys.json", {})


@pytest.mark.parametrize("which", ["signing", "operator"])
def test_a_rotation_adds_in_front_and_a_retirement_keeps_the_newest(tmp_path, which):
    first = Keys.make(environment={})
    second = first.rotated(which)
    assert getattr(second, which)[1:] == getattr(first, which)
    third = second.rotated(which, retire=True)
    assert getattr(third, which) == getattr(second, which)[:1] != getattr(first, which)
    with pytest.raises(InvalidKeys, match="nothing to retire"):
        first.rotated(which, retire=True)


def test_keys_in_a_named_file_are_rotated_there_and_those_in_a_variable_are_not(tmp_path):
    (tmp_path / "signing").write_text(SIGNING + "\n")
    environment = {"PRIVET_SIGNING_KEY_FILE": str(tmp_path / "signing"), "PRIVET_OPERATOR_KEY": OPERATOR}
    keys = Keys.make(environment=environment)
    keys.write(tmp_path / "keys.json")
    keys.rotated("signing").save(tmp_path / "keys.json", "signing")
    assert (tmp_path / "signing").read_text().split()[1] == SIGNING
    assert stat.S_IMODE((tmp_path / "signing").stat().st_mode) == 0o600
    assert len(Keys.read(tmp_path / "keys.json", environment).signing) == 2
    with pytest.raises(InvalidKeys, match="PRIVET_OPERATOR_KEY, which only you"):
        keys.rotated("operator")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
@pytest.mark.parametrize("in_file", [True, False])
def test_a_rotation_leaves_the_file_to_its_owner(tmp_path, in_file):
    (tmp_path / "signing").write_text(SIGNING + "\n")
    environment = {"PRIVET_SIGNING_KEY_FILE": str(tmp_path / "signing")} if in_file else {}
    keys, path = Keys.make(environment=environment), tmp_path / "keys.json"
    keys.write(path)
    place = tmp_path / "signing" if in_file else path
    os.chown(place, 12345, 23456)
    keys.rotated("signing").save(path, "signing")
    found = place.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (12345, 23456, 0o600)
    assert len(Keys.read(path, environment).signing) == 2


def test_a_study_takes_its_keys_from_the_environment(tmp_path, study, monkeypatch):
    monkeypatch.setitem(os.environ, "PRIVET_SIGNING_KEY", SIGNING)
    folder = StudyFolder.create(tmp_path / "study", study)
    assert folder.keys.signing[0].hex() == SIGNING
    assert SIGNING not in (tmp_path / "study" / "keys.json").read_text()
    assert StudyFolder.open(tmp_path / "study").tokens.check(folder.tokens.issue(3)) == 3
