"""Background work of a collector: deletions that a manifest promised, and the computation of the next round."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias, TypeVar

from privet.collection.server.http.monitoring import Events
from privet.collection.server.store.deletion import Retention
from privet.collection.server.store.leases import RENEWAL_SECONDS, Leases
from privet.collection.server.store.store import Store, StoreFailure

__all__ = ["Command", "Housekeeping", "NextRound"]

Command: TypeAlias = Callable[[float], Sequence[str]]
"""Returns the command that closes the newest round and opens the next one for some days."""

_T = TypeVar("_T")
_LONGEST = 300  # characters of a sentence that is passed on
_ENDED = "The computation was ended."


@dataclass(eq=False)
class Housekeeping:
    """The repeated deletions of one collector; several collectors of one store may make them at once.

    Attributes:
        store: Where reports are kept.
        events: The log, which gets the counts of what was deleted and of what waits.
        pause: Seconds between two looks at the clock and at what erasures left in the files.
    """

    store: Store
    events: Events = field(default_factory=Events)
    pause: float = 60.0
    _told: Retention = field(default=Retention(), init=False, repr=False)

    def once(self) -> None:
        """Delete reports whose retention has ended, and remove what deletions left in the files."""
        self._tell(self.store.look_at_clock())
        self.store.remove_traces()

    async def run(self) -> None:
        """Repeat the deletions until cancelled; a store that is away or busy is asked again."""
        while True:
            await asyncio.sleep(self.pause)
            with contextlib.suppress(Exception):
                await asyncio.to_thread(self.once)

    def _tell(self, found: Retention) -> None:
        """Write an event with the counts, once for the same ones."""
        chain = self.store.study.chain
        if found.deleted:
            self.events("expired", study=chain, reports=found.deleted)
        if found.clock and found.clock != self._told.clock:
            self.events("expiry waits", study=chain, reports=found.clock, until="the clock has run on for six hours")
        if found.unconfirmed and found.unconfirmed != self._told.unconfirmed:
            self.events("expiry waits", study=chain, reports=found.unconfirmed, until="privet study expire confirms it")
        self._told = found


@dataclass(eq=False)
class NextRound:
    """The computation of the next round in a process of its own, so that torch stays out of the collector's memory.

    One computation runs at a time, whichever collector of the study was asked.

    Attributes:
        store: The study's store, which keeps the lease on the computation.
        command: Returns the command that closes the newest round and opens the next one for some days; None if this
            collector cannot.
    """

    store: Store
    command: Command | None = None
    _task: asyncio.Task[None] | None = field(default=None, init=False, repr=False)

    async def start(self, number: int, days: float) -> bool:
        """Start the computation; False if one runs, here or at another collector.

        Args:
            number: The number of the round that is computed.
            days: How long it stays open.
        """
        if self.command is None:
            raise RuntimeError("There is no command that computes rounds.")
        if not await asyncio.to_thread(self._change, lambda leases: leases.take(number, time.time())):
            return False
        self._task = asyncio.create_task(self._run(self.command(days)))
        return True

    def facts(self, newest: int) -> dict[str, Any]:
        """Return whether the next round can be computed here, since when it runs, and why the last attempt failed.

        Args:
            newest: The number of the newest round; a computation of that round is over.
        """
        now = time.time()
        with self.store.leases() as leases:
            last = leases.last()
        lease = None if last is None or last.number <= newest else last
        runs = lease is not None and lease.is_held(now)
        return {
            "possible": self.command is not None,
            "running": runs,
            "since": datetime.fromtimestamp(lease.since, UTC).isoformat() if lease is not None and runs else None,
            "problem": "" if lease is None else lease.failure(now),
        }

    async def stop(self) -> None:
        """End a computation that runs here; nothing of it is kept, and it can be started again."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self, command: Sequence[str]) -> None:
        problem, renewing = _ENDED, asyncio.create_task(self._renew())
        try:
            problem = await _problem(command)
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            with contextlib.suppress(StoreFailure):  # a lease that nobody renews ends by itself
                await asyncio.to_thread(self._change, lambda leases: leases.release(problem))

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEWAL_SECONDS)
            with contextlib.suppress(StoreFailure):
                await asyncio.to_thread(self._change, lambda leases: leases.renew(time.time()))

    def _change(self, change: Callable[[Leases], _T]) -> _T:
        with self.store.leases(write=True) as leases:
            return change(leases)


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
