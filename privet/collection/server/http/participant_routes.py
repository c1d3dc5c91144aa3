"""The routes of participants: they hand out manifests and public data, and take reports.

A report is acknowledged when it is on disk. A repetition with the same bytes is acknowledged again; a different one is
refused with 409 and recorded.
"""

from __future__ import annotations

import asyncio
from collections import Counter as Tally
from collections import OrderedDict
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from privet.collection.server.http.collector import SHA256, CollectorState
from privet.collection.server.http.replies import HEADERS, Refused, pieces_of_bytes, reply, try_later
from privet.collection.server.store.served_round import Busy, ServedRound
from privet.collection.server.store.store import Outcome, StudyClosed
from privet.errors import InvalidReports

__all__ = ["ParticipantRoutes", "PublicCache"]

_STATUS = {Outcome.STORED: 201, Outcome.REPEATED: 200, Outcome.CONFLICT: 409, Outcome.ERASED: 410}
_DIFFERENT = "A different report of this participant is stored already, and a report cannot be changed."
_ERASED = "The reports of this participant were erased, and none is taken any more."


class ParticipantRoutes:
    """The requests that participants make of a collector."""

    def __init__(self, collector: CollectorState) -> None:
        self.collector = collector
        self.cache = PublicCache(collector.store.blob)
        self._acknowledgements = {outcome: reply(_STATUS[outcome], {"status": str(outcome)}) for outcome in Outcome}
        self._acknowledgements[Outcome.CONFLICT] = reply(409, {"error": _DIFFERENT})

    async def submit(self, request: Request) -> Response:
        """Take one report, as JSON or packed."""
        node = self.collector.node(request)
        study, body = await self.collector.intake.report(request)
        (result,) = await self._write(self.collector.rounds[study], [node], [body])
        if isinstance(result, InvalidReports):
            raise Refused(422, "invalid report", str(result))
        if isinstance(result, Refused):
            raise result
        self.collector.metrics.count(str(result))
        return self._acknowledgements[result]

    async def submit_batch(self, request: Request) -> Response:
        """Take many reports with a token each; every row is stored or refused on its own."""
        batch = await self.collector.intake.batch(request, self.collector.revoked)
        results = (
            await self._write(self.collector.rounds[batch.study], batch.nodes, batch.bodies) if batch.nodes else []
        )
        counts = Tally(results)
        good = counts[Outcome.STORED] + counts[Outcome.REPEATED] == len(results)  # almost always
        for row, result in () if good else zip(batch.rows, results, strict=True):
            if isinstance(result, InvalidReports):
                batch.refused.append((row, Refused(422, "invalid report", str(result))))
            elif isinstance(result, Refused):
                batch.refused.append((row, result))
            elif result is Outcome.CONFLICT:
                batch.refused.append((row, Refused(409, "conflict", _DIFFERENT)))
        for outcome in Outcome:
            self.collector.metrics.count(str(outcome), counts[outcome])
        self.collector.count(*(refused.reason for _, refused in batch.refused if refused.status != 409))
        listed = sorted((row, refused.status, str(refused)) for row, refused in batch.refused)
        answer = {
            "stored": counts[Outcome.STORED],
            "repeated": counts[Outcome.REPEATED],
            "refused": [{"row": row, "status": status, "error": text} for row, status, text in listed],
        }
        return reply(200, answer)

    async def welcome(self, request: Request) -> Response:
        """Tell a device whether this participant's report would be taken, before it makes one.

        A browser that lost its memory would otherwise draw a second report: this collector refuses it, but it has left.
        """
        node, found = self.collector.node(request), self.collector.round(request)
        if await asyncio.to_thread(found.store.erased, [node]):
            raise _gone()
        if why := self.collector.why_closed(found):
            raise Refused(403, "not open", why)
        if await asyncio.to_thread(found.store.get, node) is not None:
            raise Refused(409, "answered", _DIFFERENT)
        return reply(200, {"status": "welcome"})

    async def withdraw(self, request: Request) -> Response:
        """Erase all that a participant reported; again: the same answer. It works after closing, too."""
        node = self.collector.node(request)
        await asyncio.to_thread(self.collector.store.forget, node, "participant")
        return reply(200, {"status": "erased"})

    async def manifest(self, _: Request) -> Response:
        """Return the newest round's manifest in its canonical bytes; their SHA-256 is its id."""
        return Response(self.collector.newest.study.canonical(), media_type="application/json", headers=HEADERS)

    async def public(self, request: Request) -> Response:
        """Return public bytes by their SHA-256: manifests to everybody, lists of people and tables to participants."""
        digest = request.path_params["digest"]
        known = SHA256.fullmatch(digest) is not None  # tables of own rows have other names, and are not handed out
        found = await self.cache.get(digest) if known else None
        if found is None:
            raise Refused(404, "unknown", "This collector has no public data with this hash.")
        whose = "public"
        if not found.startswith(b"{"):  # manifests are everybody's; names, lists of people and tables are not
            whose = "private"
            if not self.collector.is_operator(request):
                self.collector.node(request)
        headers = HEADERS | {"Cache-Control": f"{whose}, immutable, max-age=31536000"}
        headers["Content-Length"] = str(len(found))
        return StreamingResponse(pieces_of_bytes(found), 200, headers, "application/octet-stream")

    async def invitation(self, request: Request) -> Response:
        """Return the participant's own rows of a round's tables."""
        node = self.collector.node(request)
        return reply(200, self.collector.round(request).invitation(node))

    async def status(self, request: Request) -> Response:
        """Tell a device whether reports are taken now, before it makes one."""
        found = self.collector.round(request) if "study" in request.path_params else self.collector.newest
        reason = self.collector.why_closed(found)
        return reply(200, {"study": found.study.id, "open": not reason, "reason": reason})

    async def _write(
        self, round_: ServedRound, nodes: list[int], bodies: list[bytes]
    ) -> list[Outcome | InvalidReports | Refused]:
        """Store reports. A round that is not open acknowledges what it has, so that no device waits for ever."""
        if round_.is_open():
            try:
                written = await round_.writer.submit(nodes, bodies)
                return [_gone() if result is Outcome.ERASED else result for result in written]
            except Busy:
                raise try_later(503, "busy", "The collector is busy; try again.") from None
            except StudyClosed:
                round_.closed = True
        stored = await asyncio.to_thread(round_.store.bodies, nodes)
        erased = await asyncio.to_thread(round_.store.erased, nodes)
        results: list[Outcome | InvalidReports | Refused] = []
        for node, body in zip(nodes, bodies, strict=True):
            refused = _gone() if node in erased else Refused(403, "not open", self.collector.why_closed(round_))
            results.append(Outcome.REPEATED if stored.get(node) == body else refused)
        return results


class PublicCache:
    """A cache of public bytes by their hash, so that a hundred readers of a table cost as much memory as one.

    Args:
        read: Returns the bytes with a hash, or None; it runs in a thread.
        most: The bytes to keep; the newest entry is kept even if it alone has more.
    """

    def __init__(self, read: Callable[[str], bytes | None], most: int = 64 << 20) -> None:
        self._read, self._most = read, most
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self._lock = asyncio.Lock()  # readers who come at once wait for the first one's copy

    async def get(self, digest: str) -> bytes | None:
        """Return the bytes with a hash; None if there are none."""
        async with self._lock:
            found = self._kept.pop(digest, None)
            if found is None:
                found = await asyncio.to_thread(self._read, digest)
                if found is None:
                    return None
                self._size += len(found)
            self._kept[digest] = found
            while self._size > self._most and len(self._kept) > 1:
                self._size -= len(self._kept.popitem(last=False)[1])
            return found


def _gone() -> Refused:
    return Refused(410, "erased", _ERASED)
