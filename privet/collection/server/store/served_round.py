"""A round as the collector serves it: its store, its writer, and each participant's own rows of its tables.

One transaction holds many requests: reports that arrive while the last commit runs are stored by the next one.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.collection.server.store.store import Outcome, Store
from privet.errors import InvalidReports
from privet.release.tree import HashTree

__all__ = ["Busy", "GroupWriter", "ServedRound"]

MOST_PENDING = 50_000
LARGEST_GROUP = 20_000


class Busy(Exception):
    """The refusal of more reports than should wait in memory for the disk; ask again later."""


@dataclass(eq=False)
class _Pending:
    nodes: Sequence[int]
    bodies: Sequence[bytes]
    done: asyncio.Future[list[Outcome | InvalidReports]]


class GroupWriter:
    """A writer that validates and stores reports in groups; a caller gets the outcome of its own once they are on disk.

    Args:
        store: Where reports are kept.
        observe: Told the seconds that each group took, from its validation to its commit.
    """

    def __init__(self, store: Store, observe: Callable[[float], None] = lambda _: None) -> None:
        self._store, self._observe = store, observe
        self._form = store.form
        self._waiting: list[_Pending] = []
        self._count = 0
        self._wake = asyncio.Event()

    @property
    def waiting(self) -> int:
        """The number of reports that wait for a commit."""
        return self._count

    async def submit(self, nodes: Sequence[int], bodies: Sequence[bytes]) -> list[Outcome | InvalidReports]:
        """Store reports, and return the outcome of each; nothing of an invalid one is stored."""
        if self._count + len(nodes) > MOST_PENDING:
            raise Busy
        done: asyncio.Future[list[Outcome | InvalidReports]] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Pending(nodes, bodies, done))
        self._count += len(nodes)
        self._wake.set()
        return await done

    async def run(self) -> None:
        """Store what waits, until cancelled; what is being written then is finished first."""
        while True:
            await self._wake.wait()
            group, begin = self._next_group(), time.perf_counter()
            work = asyncio.ensure_future(asyncio.to_thread(self._write, group))
            try:
                results = await asyncio.shield(work)
            except asyncio.CancelledError:
                with contextlib.suppress(Exception):
                    self._tell(group, await work)
                raise
            except Exception as error:  # the store's own troubles: nobody was promised anything yet
                for pending in group:
                    if not pending.done.done():
                        pending.done.set_exception(error)
                continue
            self._observe(time.perf_counter() - begin)
            self._tell(group, results)

    def _next_group(self) -> list[_Pending]:
        size, taken = 0, 0
        while taken < len(self._waiting) and (not taken or size + len(self._waiting[taken].nodes) <= LARGEST_GROUP):
            size += len(self._waiting[taken].nodes)
            taken += 1
        group, self._waiting = self._waiting[:taken], self._waiting[taken:]
        self._count -= size
        if not self._waiting:
            self._wake.clear()
        return group

    def _write(self, group: list[_Pending]) -> list[Outcome | InvalidReports]:
        nodes = list(chain.from_iterable(pending.nodes for pending in group))
        bodies = list(chain.from_iterable(pending.bodies for pending in group))
        invalid = dict(self._invalid(nodes, bodies, 0, len(nodes)))
        if not invalid:
            return list(self._store.insert(nodes, bodies))
        results = [invalid.get(row, Outcome.STORED) for row in range(len(nodes))]
        good = [row for row in range(len(nodes)) if row not in invalid]
        outcomes = self._store.insert([nodes[row] for row in good], [bodies[row] for row in good])
        for row, outcome in zip(good, outcomes, strict=True):
            results[row] = outcome
        return results

    def _invalid(
        self, nodes: list[int], bodies: list[bytes], start: int, end: int
    ) -> Iterator[tuple[int, InvalidReports]]:
        """Find the invalid rows by bisection."""
        try:
            self._form.check(nodes[start:end], bodies[start:end])
        except InvalidReports as error:
            if end - start == 1:
                yield start, error
                return
            middle = (start + end) // 2
            yield from self._invalid(nodes, bodies, start, middle)
            yield from self._invalid(nodes, bodies, middle, end)

    def _tell(self, group: list[_Pending], results: list[Outcome | InvalidReports]) -> None:
        start = 0
        for pending in group:
            if not pending.done.done():
                pending.done.set_result(results[start : start + len(pending.nodes)])
            start += len(pending.nodes)


class ServedRound:
    """One round of the study.

    Args:
        store: Where its reports are kept.
        observe: Told the seconds that each commit took.
    """

    def __init__(self, store: Store, observe: Callable[[float], None] = lambda _: None) -> None:
        self.store, self.study, self.form = store, store.study, store.form
        self.writer = GroupWriter(store, observe)
        self.closed = store.is_closed()
        self.is_open_now = self.is_open()
        self._tables: list[tuple[str, str, NDArray[Any], HashTree]] = [
            (question.name, name, array, HashTree(array, question.ask.salts.get(name, b"")))
            for question in self.form.release.questions
            for name in question.ask.per_person()
            if isinstance(array := getattr(question.ask, name), np.ndarray)
        ]

    def look(self) -> None:
        """See whether the round was closed, by its operator or by the clock."""
        self.closed = self.store.is_closed()
        self.is_open_now = self.is_open()

    def is_open(self) -> bool:
        """Tell whether reports are taken now."""
        return not self.closed and self.study.is_open(datetime.now(UTC))

    def has_ended(self) -> bool:
        """Tell whether reports were taken, and are not any more; a round that opens later has not ended."""
        return self.closed or self.study.closes <= datetime.now(UTC)

    def why_closed(self) -> str:
        """Say in a sentence why no reports are taken; empty if they are."""
        if self.is_open():
            return ""
        return "The study was closed by its operator." if self.closed else self.study.window

    def invitation(self, node: int) -> dict[str, Any]:
        """Return a participant's own rows of the tables, each with its salt and the proof that it is in the table."""
        rows: dict[str, dict[str, Any]] = {}
        for question, name, array, tree in self._tables:
            own = {"row": array[node].tolist(), "salt": tree.salt(node), "proof": tree.proof(node)}
            rows.setdefault(question, {})[name] = own
        return {"study": self.study.id, "node": node, "rows": rows}
