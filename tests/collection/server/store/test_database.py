"""The database behind a store: a file of any name or a URL, and one sentence if it cannot be used."""

import stat

import pytest

from privet.collection.server.store.store import Store, StoreFailure
from privet.errors import InvalidData, InvalidParameter


@pytest.mark.parametrize("name", ["wh?t", "pc%41x", "a b#c", "ünï"])
def test_a_file_may_have_any_name(tmp_path, study, name):
    store = Store.open(tmp_path / name, study)
    store.insert([1], [b"secret body"])
    store.dispose()
    assert (tmp_path / name).stat().st_size > 0
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    assert {path.name.removesuffix("-wal").removesuffix("-shm") for path in tmp_path.iterdir()} == {name}


def test_a_damaged_database_is_told_of_in_one_sentence_without_a_report(tmp_path, study):
    store = Store.open(tmp_path / "reports", study)
    store.insert([1], [b"secret body"])
    with store._engine.begin() as connection:
        connection.exec_driver_sql("CREATE TRIGGER t BEFORE INSERT ON reports BEGIN SELECT RAISE(FAIL, 'no'); END")
        connection.exec_driver_sql("DROP TABLE rejections")
    for call in (lambda: store.insert([2], [b"secret body"]), store.rejections, lambda: store.reject({"a": 1})):
        with pytest.raises(StoreFailure) as caught:
            call()
        assert "\n" not in str(caught.value)
        assert "secret" not in str(caught.value)
    store.dispose()


def test_a_store_that_cannot_be_is_refused(study, tmp_path):
    with pytest.raises(InvalidParameter, match="postgresql"):
        Store.open("mysql://somewhere/x", study)
    with pytest.raises(InvalidData, match="cannot be used"):
        Store.open(tmp_path / "no" / "such" / "place.sqlite", study)
    with pytest.raises(InvalidData, match="cannot be used"):
        Store.open("postgresql://nobody@127.0.0.1:1/none", study)
    with pytest.raises(InvalidParameter, match="cannot be read"):
        Store.open("postgresql://host:notaport/x", study)
    (tmp_path / "text").write_text("this is no database, but a text that is long enough")
    with pytest.raises(InvalidData, match="cannot be used"):
        Store.open(tmp_path / "text", study)
