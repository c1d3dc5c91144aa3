"""Rows: one for each node for ever, whoever writes at the same time."""

import contextlib
import sqlite3
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from simulated_studies import STORES, make_study, store_place

from privet.collection.server.store.insertion import Outcome
from privet.collection.server.store.store import Store

STORED, REPEATED, CONFLICT = Outcome.STORED, Outcome.REPEATED, Outcome.CONFLICT


def test_new_repeated_and_different(store):
    assert store.insert([1, 2], [b"a", b"b"]) == [STORED, STORED]
    assert store.insert([2, 1, 3], [b"b", b"x", b"c"]) == [REPEATED, CONFLICT, STORED]
    assert store.insert([4, 4, 4], [b"d", b"d", b"e"]) == [STORED, REPEATED, CONFLICT]
    assert [store.get(node) for node in (1, 2, 3, 4, 5)] == [b"a", b"b", b"c", b"d", None]
    assert (store.count(), store.conflicts()) == (4, 2)
    assert sum(count for _, count in store.timeline()) == 4


@pytest.mark.parametrize("count", [99, 1000, 2345])
def test_many_rows_are_stored_whole_and_in_their_order(store, count):
    """However SQLite's statements divide them."""
    nodes, bodies = list(range(count)), [node.to_bytes(2, "little") for node in range(count)]
    assert store.insert(nodes, bodies) == [STORED] * count
    assert store.bodies(nodes) == dict(zip(nodes, bodies, strict=True))
    assert store.insert([count, *nodes[::-1]], [b"new", *bodies[:0:-1], b"x"]) == [
        STORED, *[REPEATED] * (count - 1), CONFLICT
    ]  # fmt: skip


def test_attempts_are_counted_and_nothing_of_them_is_kept(tmp_path, study):
    store = Store.open(tmp_path / "reports.sqlite", study)
    store.insert([3], [b"\0"])
    store.insert([3, 3], [b"\2", b"\1"])
    store.insert([3], [b"\2"])
    store.dispose()
    with contextlib.closing(sqlite3.connect(tmp_path / "reports.sqlite")) as raw:
        ((_, node, count, minute),) = raw.execute("SELECT * FROM conflicts").fetchall()
    assert (node, count, minute % 60) == (3, 3, 0)


@given(st.lists(st.lists(st.tuples(st.integers(0, 400), st.binary(max_size=2)), max_size=250), max_size=4))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_like_a_dictionary(batches):
    store = Store.open(":memory:", make_study())
    kept: dict[int, bytes] = {}
    for batch in batches:
        if not batch:
            continue
        expected = []
        for node, body in batch:
            known = kept.setdefault(node, body)
            expected.append(CONFLICT if known != body else None)
        outcomes = store.insert([node for node, _ in batch], [body for _, body in batch])
        assert [outcome if outcome is CONFLICT else None for outcome in outcomes] == expected
    assert {node: store.get(node) for node in kept} == kept
    assert store.count() == len(kept)
    store.dispose()


@pytest.mark.parametrize("kind", STORES)
def test_two_writers_at_once_store_a_node_once(kind, tmp_path, study):
    stores = [Store.open(store_place(kind, tmp_path), study) for _ in range(2)]
    outcomes = [[], []]

    def write(which):
        for node in range(100):
            outcomes[which] += stores[which].insert([node], [bytes([which])])

    threads = [threading.Thread(target=write, args=(which,)) for which in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [sorted(pair) for pair in zip(*outcomes, strict=True)] == [[CONFLICT, STORED]] * 100
    assert stores[0].conflicts() == 100
    for each in stores:
        each.dispose()
