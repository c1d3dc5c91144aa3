"""Personal links and new tokens."""

import csv
import stat

import pytest

from privet.collection.operator.links import renew_token, write_links
from privet.errors import InvalidData, InvalidParameter


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


def test_a_token_is_renewed_as_often_as_it_is_lost(folder):
    assert len({renew_token(folder.path, 3) for _ in range(3)}) == 3
    with pytest.raises(InvalidData, match="below 500"):
        renew_token(folder.path, 500)


def test_what_is_no_address_is_refused_before_anything_is_written(folder, tmp_path):
    with pytest.raises(InvalidParameter, match="https://"):
        write_links(folder.path, "study.example.org", tmp_path / "links.csv")
    assert not (tmp_path / "links.csv").exists()
