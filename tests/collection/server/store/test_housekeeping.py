"""A running collector deletes what is due, and cleans its files, without being asked."""

import asyncio
import contextlib

from fastapi.testclient import TestClient
from patience import wait_until
from simulated_studies import Service, make_study

from privet.collection.server.store.housekeeping import Housekeeping
from privet.collection.server.store.store import Store


def due(tmp_path):
    """A store with a report that should have been deleted long ago."""
    study = make_study(opens="2020-01-01T00:00:00Z", closes="2020-02-01T00:00:00Z", delete_after=30)
    store = Store.open(tmp_path / "reports.sqlite", study)
    store.insert([1], [b"an easy body"])
    return store


def left(tmp_path):
    return any(b"an easy body" in path.read_bytes() for path in tmp_path.iterdir())


def test_a_collector_that_starts_deletes_what_is_due(tmp_path):
    store = due(tmp_path)
    assert left(tmp_path)
    with TestClient(Service(store.study, store).app):
        assert (store.count(), store.expired().reports) == (0, 1)
        assert not left(tmp_path)
    store.dispose()


def test_it_goes_on_while_it_runs_whatever_fails(tmp_path, monkeypatch):
    store = due(tmp_path)
    failing = iter([True, False])
    expire = store.expire

    def sometimes():
        return 1 / 0 if next(failing, False) else expire()

    monkeypatch.setattr(store, "expire", sometimes)

    async def run():
        task = asyncio.create_task(Housekeeping(store, pause=0.01, between=0.0).run())
        await asyncio.to_thread(wait_until, lambda: not left(tmp_path))
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert (store.count(), left(tmp_path)) == (0, False)
    store.dispose()


def test_erasures_leave_the_files_while_retention_is_not_looked_at(tmp_path):
    study = make_study()
    store = Store.open(tmp_path / "reports.sqlite", study)
    store.insert([1], [b"an easy body"])
    store.forget(1, "participant")

    async def run():
        task = asyncio.create_task(Housekeeping(store, pause=0.01).run())
        await asyncio.to_thread(wait_until, lambda: not left(tmp_path))
        task.cancel()

    asyncio.run(run())
    assert not left(tmp_path)
    store.dispose()
