"""Both stores: a node has one report for ever."""

import numpy as np
import pytest
from simulated_studies import make_study, simulated

from privet.collection.server.store.store import Outcome, Store, StoreFailure, StudyClosed


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
    store.add_model({"name": "m", "metrics": {"accuracy": 0.5}, "erasures": 0})
    (model,) = store.models()
    assert (model["name"], model["metrics"], model["erasures_since"]) == ("m", {"accuracy": 0.5}, 0)
    assert not store.is_closed()
    store.close()
    assert store.is_closed()


def test_a_closed_study_stores_nothing_more(store):
    store.insert([1], [b"a"])
    store.close()
    with pytest.raises(StudyClosed):
        store.insert([1, 2], [b"a", b"b"])
    assert store.bodies([1, 2]) == {1: b"a"}


def test_opened_again_it_holds_the_same(store, study):
    store.insert([1], [b"a"])
    again = Store(store._engine, study)
    assert again.insert([1], [b"a"]) == [Outcome.REPEATED]


def test_a_failed_transaction_leaves_nothing(store):
    with pytest.raises(StoreFailure):
        store.insert([1, 2], [b"a", None])
    assert store.count() == 0


def test_a_model_is_known_to_be_older_than_an_erasure(store):
    store.forget(1, "operator")
    for erasures in (0, 1):
        store.add_model({"name": "m", "metrics": {}, "erasures": erasures})
    store.forget(2, "participant")
    assert [model["erasures_since"] for model in store.models()] == [2, 1]
