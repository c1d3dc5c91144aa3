"""Both stores: a node has one report for ever."""

import stat

import numpy as np
import pytest
from simulated_studies import make_study, simulated

from privet.collection.server.store import Outcome, Store, StoreFailure, StudyClosed
from privet.errors import InvalidData, InvalidParameter


def test_answers_come_back_by_node(store, study):
    answers = simulated(study, 0, count=250)
    form = study.release.wire
    store.insert(answers.users.tolist(), form.pack(answers))
    found = store.answers()
    order = np.argsort(answers.users)
    assert found.users.tolist() == answers.users[order].tolist()
    assert found["features"].reports == answers["features"].reports.take(order)


def test_studies_share_a_store_and_nothing_else(store):
    other = Store(store._engine, make_study())
    store.insert([1], [b"mine"])
    other.insert([1], [b"theirs"])
    other.revoke(1, 0)
    other.close()
    other.reject({"token": 2})
    assert (store.get(1), store.count(), store.is_closed()) == (b"mine", 1, False)
    assert (store.revoked(), store.rejections()) == (frozenset(), {})


def test_what_else_is_remembered(store):
    store.reject({"token": 2, "not JSON": 1})
    store.reject({"token": 3})
    assert store.rejections() == {"not JSON": 1, "token": 5}
    store.revoke(7, 0)
    store.revoke(7, 0)
    assert store.revoked() == {(7, 0)}
    store.add_model({"name": "m", "metrics": {"accuracy": 0.5}})
    assert store.models() == [{"name": "m", "metrics": {"accuracy": 0.5}}]
    assert not store.is_closed()
    store.close()
    assert store.is_closed()


def test_a_closed_study_stores_nothing_more(store):
    store.insert([1], [b"a"])
    store.close()
    with pytest.raises(StudyClosed):
        store.insert([1, 2], [b"a", b"b"])
    assert store.bodies([1, 2]) == {1: b"a"}


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


def test_opened_again_it_holds_the_same(store, study):
    store.insert([1], [b"a"])
    again = Store(store._engine, study)
    assert again.insert([1], [b"a"]) == [Outcome.REPEATED]


def test_a_failed_transaction_leaves_nothing(store):
    with pytest.raises(StoreFailure):
        store.insert([1, 2], [b"a", None])
    assert store.count() == 0


def test_a_store_that_cannot_be_is_refused(study, tmp_path):
    with pytest.raises(InvalidParameter, match="postgresql"):
        Store.open("mysql://somewhere/x", study)
    with pytest.raises(InvalidData, match="can be written"):
        Store.open(tmp_path / "no" / "such" / "place.sqlite", study)
    with pytest.raises(InvalidData, match="can be written"):
        Store.open("postgresql://nobody@127.0.0.1:1/none", study)
    with pytest.raises(InvalidParameter, match="cannot be read"):
        Store.open("postgresql://host:notaport/x", study)
    (tmp_path / "text").write_text("this is no database, but a text that is long enough")
    with pytest.raises(InvalidData, match="can be written"):
        Store.open(tmp_path / "text", study)
