"""Retention: reports are deleted when their time has come, not before, and their number stays."""

import threading
from datetime import UTC, datetime

import pytest
from simulated_studies import STORES, make_study, store_place, two_rounds

from privet.collection.server.store.deletion import Expired
from privet.collection.server.store.insertion import Insertion
from privet.collection.server.store.store import Store, StudyClosed

DUE = datetime(2026, 3, 2, 12, tzinfo=UTC)
BEFORE = datetime(2026, 3, 2, 11, 59, 59, tzinfo=UTC)


@pytest.fixture(params=STORES)
def place(request, tmp_path):
    return store_place(request.param, tmp_path)


def filled(place, **changes):
    store = Store.open(place, make_study(closes="2026-01-31T12:00:00Z", **changes))
    store.insert([1, 2, 3], [b"an easy body", b"two", b"three"])
    store.insert([2, 2], [b"x", b"y"])
    return store


def test_reports_are_deleted_on_the_day_and_their_number_is_kept(place):
    store, other = filled(place, delete_after=30), filled(place, delete_after=90)
    assert (store.expire(BEFORE), store.count(), store.expired()) == (0, 3, None)
    assert store.expire(DUE) == 3
    assert (store.count(), store.conflicts()) == (0, 0)
    assert store.expired() == Expired(3, int(DUE.timestamp()))
    assert (store.expire(DUE), store.expired().reports) == (0, 3)
    assert (other.count(), other.expired()) == (3, None)
    for each in (store, other):
        each.dispose()


def test_each_round_has_its_own_date(place):
    rounds = two_rounds(closes="2026-01-31T12:00:00Z", delete_after=30)
    later = rounds[1].model_copy(update={"closes": datetime(2026, 6, 1, tzinfo=UTC)})
    first, second = (Store.open(place, study) for study in (rounds[0], later))
    for each in (first, second):
        each.insert([1], [b"one"])
    assert (second.expire(DUE), first.count(), second.count()) == (1, 0, 1)
    assert first.expired() == second.expired() == Expired(1, int(DUE.timestamp()))
    assert first.expire(datetime(2026, 7, 1, tzinfo=UTC)) == 1
    for each in (first, second):
        each.dispose()


def test_what_is_being_inserted_is_deleted_too(place, monkeypatch):
    store, original, started = filled(place, delete_after=30), Insertion.of, []

    def slowly(insertion, nodes, bodies):
        started.append(threading.Thread(target=store.expire, args=(DUE,)))
        started[0].start()
        started[0].join(0.5)  # it cannot end before this transaction does
        return original(insertion, nodes, bodies)

    monkeypatch.setattr(Insertion, "of", slowly)
    store.insert([4], [b"four"])
    started[0].join()
    assert store.count() == 0
    assert store.expired().reports == 4
    store.dispose()


def test_without_a_promise_nothing_is_deleted(place):
    store = filled(place, delete_after=None)
    assert (store.expire(datetime(2090, 1, 1, tzinfo=UTC)), store.count()) == (0, 3)
    store.dispose()


def test_early_it_closes_the_study_too(place):
    store = filled(place, delete_after=None)
    assert store.expire(BEFORE, early=True) == 3
    assert store.is_closed()
    with pytest.raises(StudyClosed):
        store.insert([4], [b"four"])
    store.dispose()


def test_an_erased_person_is_still_counted(place):
    store = filled(place, delete_after=30)
    store.forget(1, "participant")
    assert (store.expire(DUE), len(store.erasures())) == (2, 1)
    store.dispose()


def test_the_bytes_are_in_no_file(tmp_path):
    store = filled(tmp_path / "reports.sqlite", delete_after=30)
    store.expire(DUE)
    store.remove_traces()
    assert all(b"an easy body" not in path.read_bytes() for path in tmp_path.iterdir())
    store.dispose()
