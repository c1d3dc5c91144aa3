"""The computation of a next round as a process: one at a time, and its end is told."""

import asyncio
import sys
from pathlib import Path

import pytest

from privet.collection.server.store.store import Store
from privet.collection.server.store.successor import Successor


def started(store, command, newest=1):
    """Compute round 2, and return what is told of it at the beginning and at the end."""

    async def run():
        here, elsewhere = Successor(store, lambda days: command), Successor(store, lambda days: command)
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
        here, elsewhere = (Successor(store, lambda days: python(code)) for _ in range(2))
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
    successor = Successor(Store.open(tmp_path / "store.sqlite", study))
    assert not successor.facts(1)["possible"]
    with pytest.raises(RuntimeError):
        asyncio.run(successor.start(2, 30.0))
    successor.store.dispose()


def test_one_that_is_stopped_can_be_started_again(store):
    async def run():
        successor = Successor(store, lambda days: python("import time; time.sleep(600)"))
        assert await successor.start(2, 30.0)
        await asyncio.sleep(0)
        await successor.stop()
        told = successor.facts(1)
        assert await successor.start(2, 30.0)
        await successor.stop()
        return told

    told = asyncio.run(run())
    assert (told["running"], told["problem"]) == (False, "The computation was ended.")
