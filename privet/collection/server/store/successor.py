"""The computation of a study's next round in a process of its own: torch never enters the collector's memory."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

from privet.collection.server.store.store import Store, StoreFailure
from privet.collection.server.store.turns import BEAT_SECONDS

__all__ = ["Command", "Successor"]

Command: TypeAlias = Callable[[float], Sequence[str]]
_LONGEST = 300  # characters of a sentence that is passed on
_ENDED = "The computation was ended."


@dataclass(eq=False)
class Successor:
    """One computation at a time, whichever collector of the study was asked, and what became of the last one.

    Attributes:
        store: The study's store, which knows whose turn it is.
        command: Returns the command that closes the newest round and opens the next one for some days; None if this
            collector cannot.
    """

    store: Store
    command: Command | None = None
    _task: asyncio.Task[None] | None = field(default=None, init=False, repr=False)

    async def start(self, number: int, days: float) -> bool:
        """Begin; False if a computation runs, here or at another collector.

        Args:
            number: The number of the round that is computed.
            days: How long it stays open.
        """
        if self.command is None:
            raise RuntimeError("There is no command that computes rounds.")
        if not await asyncio.to_thread(self._take, number):
            return False
        self._task = asyncio.create_task(self._run(self.command(days)))
        return True

    def facts(self, newest: int) -> dict[str, Any]:
        """Return whether the next round can be computed here, since when it is, and why it failed the last time.

        Args:
            newest: The number of the newest round; a computation that has brought it about is over.
        """
        now = time.time()
        with self.store.turns() as turns:
            last = turns.last()
        turn = None if last is None or last.number <= newest else last
        runs = turn is not None and turn.runs(now)
        return {
            "possible": self.command is not None,
            "running": runs,
            "since": datetime.fromtimestamp(turn.since, UTC).isoformat() if turn is not None and runs else None,
            "problem": "" if turn is None else turn.trouble(now),
        }

    async def stop(self) -> None:
        """End a computation that runs here; nothing of it is kept, and it can be started again."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self, command: Sequence[str]) -> None:
        problem, beating = _ENDED, asyncio.create_task(self._beat())
        try:
            problem = await _problem(command)
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)
            with contextlib.suppress(StoreFailure):  # the turn ends by itself if nobody gives a sign of life
                await asyncio.to_thread(self._end, problem)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            with contextlib.suppress(StoreFailure):
                await asyncio.to_thread(self._sign)

    def _take(self, number: int) -> bool:
        with self.store.turns(write=True) as turns:
            return turns.take(number, time.time())

    def _sign(self) -> None:
        with self.store.turns(write=True) as turns:
            turns.beat(time.time())

    def _end(self, problem: str) -> None:
        with self.store.turns(write=True) as turns:
            turns.end(problem)


async def _problem(command: Sequence[str]) -> str:
    """Run a command to its end, and return the one sentence with which it failed; empty if it did not."""
    nothing, pipe = asyncio.subprocess.DEVNULL, asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(*command, stdin=nothing, stdout=nothing, stderr=pipe)
    except OSError as error:
        return f"The computation did not start: {error.strerror}."
    try:
        _, said = await process.communicate()
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            await process.wait()
    if not process.returncode:
        return ""
    lines = said.decode(errors="replace").strip().splitlines()
    return lines[-1].removeprefix("privet: ")[:_LONGEST] if lines else _ENDED
