"""Key rotation: old links go on working until they are retired."""

import base64
import csv
import stat
import urllib.error
import urllib.request

import pytest
from patience import wait_until

from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.rotation import rotate_keys
from privet.collection.study.tokens import InvalidToken


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
