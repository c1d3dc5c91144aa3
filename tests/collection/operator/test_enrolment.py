"""Links, tokens, rotated keys and erasures."""

import base64
import csv
import stat
import urllib.error
import urllib.request

import pytest
from patience import wait_until
from simulated_studies import simulated

from privet.collection.operator.enrolment import Forgotten, erased_people, forget, renew_token, rotate_keys, write_links
from privet.collection.operator.folder import StudyFolder
from privet.collection.study.tokens import InvalidToken
from privet.errors import InvalidData, InvalidParameter, PrivetError


def test_links_carry_the_token_that_is_valid_now(folder, tmp_path):
    token = renew_token(folder.path, 3)
    store = folder.store()
    assert folder.tokens.check(token, store.revoked()) == 3
    assert (3, 0) in store.revoked()
    store.dispose()
    assert write_links(folder.path, "https://study.example.org/", tmp_path / "links.csv") == folder.study.nodes
    with (tmp_path / "links.csv").open() as file:
        links = {int(row["node"]): row["link"] for row in csv.DictReader(file)}
    assert links[3] == f"https://study.example.org/#study={folder.study.id}&token={token}"
    assert links[4].endswith(folder.tokens.issue(4))
    assert stat.S_IMODE((tmp_path / "links.csv").stat().st_mode) == 0o600


def read_links(path):
    with path.open() as file:
        return {int(row["node"]): row for row in csv.DictReader(file)}


def test_reminders_go_to_those_who_have_not_answered_and_were_not_erased(folder, tmp_path):
    answers = simulated(folder.study, 0, count=200)
    with folder.store() as store:
        store.insert(answers.users.tolist(), folder.study.release.wire.pack(answers))
        silent = sorted(set(range(500)) - set(answers.users.tolist()))
        store.forget(silent[0], "participant")
    assert write_links(folder.path, "https://study.example.org", tmp_path / "links.csv", waiting=True) == 299
    assert sorted(read_links(tmp_path / "links.csv")) == silent[1:]


def test_a_token_is_renewed_as_often_as_it_is_lost(folder):
    assert len({renew_token(folder.path, 3) for _ in range(3)}) == 3
    with pytest.raises(InvalidData, match="below 500"):
        renew_token(folder.path, 500)


def test_what_is_no_address_is_refused_before_anything_is_written(folder, tmp_path):
    with pytest.raises(InvalidParameter, match="https://"):
        write_links(folder.path, "study.example.org", tmp_path / "links.csv")
    assert not (tmp_path / "links.csv").exists()


def test_old_tokens_are_good_until_they_are_retired(folder):
    old = folder.tokens.issue(3)
    done = rotate_keys(folder.path, "signing")
    again = StudyFolder.open(folder.path)
    new = again.tokens.issue(3)
    assert (done.keys, done.people, done.waiting, done.place) == (2, 500, 500, folder.path / "keys.json")
    assert new != old
    assert again.tokens.check(old) == again.tokens.check(new) == 3
    block = b"".join(map(base64.urlsafe_b64decode, (old, new, again.tokens.issue(4), folder.tokens.issue(5))))
    assert again.tokens.check_many(block) == [3, 3, 4, 5]
    assert again.tokens.check_many(block + bytes(24)) is None
    with (folder.path / "tokens.csv").open() as file:
        rows = {int(row["node"]): row["token"] for row in csv.DictReader(file)}
    assert rows[3] == new
    assert stat.S_IMODE((folder.path / "tokens.csv").stat().st_mode) == 0o600
    assert rotate_keys(folder.path, "signing", retire=True).keys == 1
    retired = StudyFolder.open(folder.path).tokens
    assert retired.check(new) == 3
    with pytest.raises(InvalidToken):
        retired.check(old)
    assert retired.check_many(block) is None


def test_revoked_tokens_stay_revoked(folder):
    store = folder.store()
    store.revoke(3, 0)
    rotate_keys(folder.path, "signing")
    tokens = StudyFolder.open(folder.path).tokens
    with pytest.raises(InvalidToken, match="revoked"):
        tokens.check(tokens.issue(3), store.revoked())
    with (folder.path / "tokens.csv").open() as file:
        rows = {int(row["node"]): row["token"] for row in csv.DictReader(file)}
    assert tokens.check(rows[3], store.revoked()) == 3
    store.dispose()


def test_a_running_collector_takes_the_new_keys_and_drops_the_old_ones(live):
    address, folder = live

    def summary(key):
        request = urllib.request.Request(f"{address}/operator/summary", headers={"Authorization": f"Bearer {key}"})
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    old = folder.keys.operator[0]
    rotate_keys(folder.path, "operator")
    new = StudyFolder.open(folder.path).keys.operator[0]
    wait_until(lambda: summary(new) == 200)  # the collector looks once a second
    assert summary(old) == 200
    rotate_keys(folder.path, "operator", retire=True)
    wait_until(lambda: summary(old) == 401)
    assert summary(new) == 200


def test_a_person_is_forgotten_and_their_bytes_are_in_no_file(folder, study):
    answers = simulated(study, 0, count=20)
    bodies = dict(zip(answers.users.tolist(), (b"%032d" % node for node in answers.users), strict=True))
    store = folder.store()
    store.insert(list(bodies), list(bodies.values()))
    store.add_model({"name": "first", "erasures": 0})
    store.dispose()
    node = int(answers.users[4])
    assert forget(folder.path, node) == Forgotten(new=frozenset({node}), clean=True, models=("first",))
    assert forget(folder.path, node) == Forgotten(new=frozenset(), clean=True, models=("first",))
    assert erased_people(folder.path) == (node,)
    files = [path.read_bytes() for path in folder.path.iterdir()]
    assert not any(bodies[node] in data for data in files)
    assert any(bodies[int(answers.users[5])] in data for data in files)


def test_a_person_who_does_not_exist_is_refused(folder):
    with pytest.raises(PrivetError, match="below 500"):
        forget(folder.path, 5, 500)
    assert erased_people(folder.path) == ()
