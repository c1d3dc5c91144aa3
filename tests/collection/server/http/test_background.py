"""Background work: a collector deletes what is due without being asked, and computes one next round at a time."""

import asyncio
import contextlib
import json
import sys
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
from patience import wait_until
from simulated_studies import Service, make_study
from starlette.testclient import TestClient

from privet.collection.server.http.background import Housekeeping, NextRound
from privet.collection.server.http.monitoring import Events
from privet.collection.server.store.store import Store


def started(store, command, newest=1):
    """Compute round 2, and return what is told of it at the beginning and at the end."""

    async def run():
        here, elsewhere = NextRound(store, lambda days: command), NextRound(store, lambda days: command)
        assert await here.start(2, 30.0)
        before = elsewhere.facts(newest)
        await here._task
        return before, elsewhere.facts(newest)

    return asyncio.run(run())


def python(code):
    return [sys.executable, "-c", code]


def test_it_runs_and_ends_and_every_collector_tells_so(store):
    before, end = started(store, python(""))
    assert (before["running"], before["since"] is not None) == (True, True)
    assert end == {"possible": True, "running": False, "since": None, "problem": ""}


def test_one_runs_at_a_time_whichever_collector_is_asked(store, tmp_path):
    go = tmp_path / "go"
    code = f"import pathlib, time\nwhile not pathlib.Path({str(go)!r}).exists(): time.sleep(0.02)"

    async def run():
        here, elsewhere = (NextRound(store, lambda days: python(code)) for _ in range(2))
        assert await here.start(2, 30.0)
        assert not await elsewhere.start(2, 30.0)
        assert not await here.start(2, 30.0)
        go.touch()
        await here._task
        assert await elsewhere.start(2, 30.0)
        await elsewhere._task

    asyncio.run(run())


def test_it_is_over_for_people_once_its_round_is_there(store):
    assert not started(store, python(""), newest=2)[0]["running"]


def test_the_last_line_of_a_failure_is_its_sentence(store):
    code = "import sys; sys.exit('something\\nprivet: There is no panel.')"
    assert started(store, python(code))[1]["problem"] == "There is no panel."
    assert started(store, python("import sys; sys.exit(3)"))[1]["problem"] == "The computation was ended."
    assert len(started(store, python("import sys; sys.exit('x' * 10_000)"))[1]["problem"]) == 300


def test_a_command_that_is_not_there_is_told_of(store):
    told = started(store, ["/no/such/program"])[1]["problem"]
    assert told == "The computation did not start: No such file or directory."


def test_without_a_command_nothing_starts(tmp_path: Path, study):
    next_round = NextRound(Store.open(tmp_path / "store.sqlite", study))
    assert not next_round.facts(1)["possible"]
    with pytest.raises(RuntimeError):
        asyncio.run(next_round.start(2, 30.0))
    next_round.store.dispose()


def test_one_that_is_stopped_can_be_started_again(store):
    async def run():
        next_round = NextRound(store, lambda days: python("import time; time.sleep(600)"))
        assert await next_round.start(2, 30.0)
        await asyncio.sleep(0)
        await next_round.stop()
        told = next_round.facts(1)
        assert await next_round.start(2, 30.0)
        await next_round.stop()
        return told

    told = asyncio.run(run())
    assert (told["running"], told["problem"]) == (False, "The computation was ended.")


def due(tmp_path):
    """A store with a report that should have been deleted long ago, and a clock that has run on since."""
    study = make_study(opens="2020-01-01T00:00:00Z", closes="2020-02-01T00:00:00Z", delete_after=30)
    store = Store.open(tmp_path / "reports.sqlite", study)
    store.insert([1], [b"an easy body"])
    store.close()
    start = datetime.now(UTC) - timedelta(hours=6, minutes=10)
    for half_hours in range(12):
        store.look_at_clock(start + timedelta(minutes=30 * half_hours))
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


def test_a_collector_with_a_clock_that_jumped_deletes_nothing_and_says_so(tmp_path):
    study = make_study(opens="2020-01-01T00:00:00Z", closes="2020-02-01T00:00:00Z", delete_after=30)
    store, log = Store.open(tmp_path / "reports.sqlite", study), StringIO()
    store.insert([1], [b"one"])
    store.look_at_clock(datetime(2020, 1, 15, tzinfo=UTC))
    housekeeping = Housekeeping(store, Events(log))
    for _ in range(3):
        housekeeping.once()
    (event,) = map(json.loads, log.getvalue().splitlines())
    assert store.count() == 1
    assert (event["event"], event["reports"], event["study"]) == ("expiry waits", 1, study.id)
    start = datetime.now(UTC)
    for half_hours in range(13):
        housekeeping._tell(store.look_at_clock(start + timedelta(minutes=30 * half_hours)))
    assert "privet study expire" in json.loads(log.getvalue().splitlines()[-1])["until"]
    store.expire()
    housekeeping.once()
    assert len(log.getvalue().splitlines()) == 2
    store.dispose()


def test_what_a_collector_deletes_is_an_event(tmp_path):
    store, log = due(tmp_path), StringIO()
    Housekeeping(store, Events(log)).once()
    (event,) = map(json.loads, log.getvalue().splitlines())
    assert (event["event"], event["reports"], event["study"]) == ("expired", 1, store.study.id)
    store.dispose()


def test_it_goes_on_while_it_runs_whatever_fails(tmp_path, monkeypatch):
    store = due(tmp_path)
    failing = iter([True, False])
    look = store.look_at_clock

    def sometimes():
        return 1 / 0 if next(failing, False) else look()

    monkeypatch.setattr(store, "look_at_clock", sometimes)

    async def run():
        task = asyncio.create_task(Housekeeping(store, pause=0.01).run())
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
