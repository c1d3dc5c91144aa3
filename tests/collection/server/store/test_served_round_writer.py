"""Groups of reports: each hears of its own, and bad ones do not touch the others."""

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_studies import make_study, simulated

from privet.collection.server.store import served_round as module
from privet.collection.server.store.served_round import Busy, GroupWriter
from privet.collection.server.store.store import Outcome, Store
from privet.errors import InvalidReports

STUDY = make_study()
ANSWERS = simulated(STUDY, 0, count=60)
NODES, BODIES = ANSWERS.users.tolist(), STUDY.release.wire.pack(ANSWERS)


def written(store, *submissions):
    """Submit all at once and stop when every one was answered."""

    async def play():
        writer = GroupWriter(store)
        task = asyncio.create_task(writer.run())
        try:
            return await asyncio.gather(*(writer.submit(*each) for each in submissions))
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    return asyncio.run(play())


@given(bad=st.sets(st.integers(0, 59)), cuts=st.lists(st.integers(0, 60), max_size=6))
def test_every_row_hears_its_own_outcome(bad, cuts):
    store = Store.open(":memory:", STUDY)
    bodies = [b"\x00" * 6 if row in bad else body for row, body in enumerate(BODIES)]
    edges = sorted({0, 60, *cuts})
    parts = [(NODES[a:b], bodies[a:b]) for a, b in pairwise(edges)]
    results = [result for part in written(store, *parts) for result in part]
    assert {row for row, result in enumerate(results) if isinstance(result, InvalidReports)} == bad
    assert all(result is Outcome.STORED for row, result in enumerate(results) if row not in bad)
    assert store.count() == 60 - len(bad)
    store.dispose()


def test_too_much_at_once_is_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_PENDING", 10)
    store = Store.open(":memory:", STUDY)
    with pytest.raises(Busy):
        written(store, (NODES[:11], BODIES[:11]))
    assert written(store, (NODES[:10], BODIES[:10])) == [[Outcome.STORED] * 10]
    store.dispose()


def test_large_groups_are_cut(monkeypatch):
    monkeypatch.setattr(module, "LARGEST_GROUP", 7)
    store = Store.open(":memory:", STUDY)
    sizes = []
    insert = store.insert
    monkeypatch.setattr(store, "insert", lambda nodes, bodies: (sizes.append(len(nodes)), insert(nodes, bodies))[1])
    written(store, *(([node], [body]) for node, body in zip(NODES, BODIES, strict=True)))
    assert max(sizes) <= 7
    assert sum(sizes) == store.count() == 60
    store.dispose()


def test_a_failing_store_fails_its_own_group_only(monkeypatch):
    store = Store.open(":memory:", STUDY)
    insert, calls = store.insert, []

    def once(nodes, bodies):
        calls.append(1)
        if len(calls) == 1:
            raise OSError
        return insert(nodes, bodies)

    monkeypatch.setattr(store, "insert", once)
    monkeypatch.setattr(module, "LARGEST_GROUP", 1)
    parts = [([node], [body]) for node, body in zip(NODES[:3], BODIES[:3], strict=True)]

    async def play():
        writer = GroupWriter(store)
        task = asyncio.create_task(writer.run())
        results = await asyncio.gather(*(writer.submit(*each) for each in parts), return_exceptions=True)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return results

    results = asyncio.run(play())
    assert isinstance(results[0], OSError)
    assert results[1:] == [[Outcome.STORED]] * 2
    store.dispose()
