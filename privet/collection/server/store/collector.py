"""The collector's service to participants: it hands out manifests and public data, and takes reports.

Nothing here writes a network address anywhere, and no report is ever logged. A report is acknowledged when it is on
disk; a repetition with the same bytes is acknowledged again, a different one is refused with 409 and recorded.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import Counter as Tally
from collections.abc import AsyncIterator, Callable
from dataclasses import KW_ONLY, dataclass, field

from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse
from prometheus_client import CONTENT_TYPE_LATEST

from privet.collection.server.http.access import Access
from privet.collection.server.http.events import Events, Refusals
from privet.collection.server.http.health import Health
from privet.collection.server.http.intake import Intake, Refused, Revoked, UnknownStudy
from privet.collection.server.http.limits import Limits, RateLimit, address_of
from privet.collection.server.http.metrics import Metrics
from privet.collection.server.http.replies import HEADERS, reply
from privet.collection.server.store.housekeeping import Housekeeping
from privet.collection.server.store.rounds import Round
from privet.collection.server.store.shared import Shared, pieces_of
from privet.collection.server.store.store import Outcome, Store, StoreFailure, StudyClosed
from privet.collection.server.store.writer import Busy
from privet.collection.study.tokens import Tokens
from privet.errors import InvalidReports, PrivetError

__all__ = ["Collector"]

_SHA256 = re.compile("[0-9a-f]{64}")
_STATUS = {Outcome.STORED: 201, Outcome.REPEATED: 200, Outcome.CONFLICT: 409, Outcome.ERASED: 410}
_DIFFERENT = "A different report of this participant is stored already, and a report cannot be changed."
_UNREADABLE = "The collector cannot read its keys, so it does not know which of the operator's are good; see its log."
_ERASED = "The reports of this participant were erased, and none is taken any more."


@dataclass(eq=False)
class Collector:
    """The service of one study with all its rounds: what the routes of :func:`create_app` call.

    Attributes:
        store: Where the reports to the first round are kept; the database has the other rounds.
        tokens: Checks the participants' tokens.
        operator_key: Opens the operator's page.
        limits: The most that is taken.
        events: The log.
        renew: Returns the tokens and keys that are good now; asked once a second.
        private_metrics: Show metrics to the operator only.
    """

    store: Store
    tokens: Tokens
    operator_key: str = field(repr=False)
    limits: Limits = field(default_factory=Limits)
    _: KW_ONLY
    events: Events = field(default_factory=Events)
    renew: Callable[[], Access] | None = None
    private_metrics: bool = False

    def __post_init__(self) -> None:
        self.rounds: dict[str, Round] = {}
        self.intake = Intake(self.tokens, self.limits.batch_bytes, self.limits.proxied)
        self.shared = Shared(self.store.blob)
        self.rate = RateLimit(self.limits.rate, self.limits.burst)
        self.access = Access(self.tokens, (self.operator_key,))
        self.metrics, self.health, self.refusals = Metrics(), Health(self.events), Refusals(self.events)
        self.answers = {outcome: reply(_STATUS[outcome], {"status": str(outcome)}) for outcome in Outcome}
        self.answers[Outcome.CONFLICT] = reply(409, {"error": _DIFFERENT})
        self.revoked: Revoked = frozenset()
        self.rejected: Tally[str] = Tally()
        self.keys_read = True

    @property
    def newest(self) -> Round:
        """The last round."""
        return list(self.rounds.values())[-1]

    @contextlib.asynccontextmanager
    async def lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        """Write while the service lives; look for new rounds, revocations, closings and keys once a second."""
        self.rounds = {}
        tasks: list[asyncio.Task[None]] = []
        with self.health.look():
            self._adopt(self._look(), tasks)
        for each in self.rounds.values():
            self.events("start", study=each.study.id, open=each.is_open(), stored=each.store.count())
        housekeeping = Housekeeping(self.store)
        await asyncio.to_thread(housekeeping.once)
        tasks += [asyncio.create_task(self._watch(tasks)), asyncio.create_task(housekeeping.run())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with contextlib.suppress(StoreFailure):
                await asyncio.to_thread(self.flush)
            self.refusals.tell(now=True)
            self.events("stop")

    async def submit(self, request: Request) -> Response:
        """Take one report, as JSON or packed."""
        node = self.intake.node(request, self.revoked)
        study, body = await self.intake.report(request)
        (result,) = await self._write(self.rounds[study], [node], [body])
        if isinstance(result, InvalidReports):
            raise Refused(422, "invalid report", str(result))
        if isinstance(result, Refused):
            raise result
        self.metrics.count(str(result))
        return self.answers[result]

    async def submit_batch(self, request: Request) -> Response:
        """Take many reports with a token each; every row is stored or refused on its own."""
        batch = await self.intake.batch(request, self.revoked)
        results = await self._write(self.rounds[batch.study], batch.nodes, batch.bodies) if batch.nodes else []
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
            self.metrics.count(str(outcome), counts[outcome])
        self._count(*(refused.reason for _, refused in batch.refused if refused.status != 409))
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
        node, found = self.intake.node(request, self.revoked), self._round(request)
        if await asyncio.to_thread(found.store.erased, [node]):
            raise _gone()
        if not found.is_open():
            raise Refused(403, "not open", found.why_closed())
        if await asyncio.to_thread(found.store.get, node) is not None:
            raise Refused(409, "answered", _DIFFERENT)
        return reply(200, {"status": "welcome"})

    async def withdraw(self, request: Request) -> Response:
        """Erase all that a participant reported; again: the same answer. It works after closing, too."""
        node = self.intake.node(request, self.revoked)
        await asyncio.to_thread(self.store.forget, node, "participant")
        return reply(200, {"status": "erased"})

    async def manifest(self, _: Request) -> Response:
        """Return the newest round's manifest in its canonical bytes; their SHA-256 is its id."""
        return Response(self.newest.study.canonical(), media_type="application/json", headers=HEADERS)

    async def public(self, request: Request) -> Response:
        """Return public bytes by their SHA-256: manifests to everybody, lists of people and tables to participants."""
        digest = request.path_params["digest"]
        known = _SHA256.fullmatch(digest) is not None  # tables of own rows have other names, and are not handed out
        found = await self.shared.get(digest) if known else None
        if found is None:
            raise Refused(404, "unknown", "This collector has no public data with this hash.")
        whose = "public"
        if not found.startswith(b"{"):  # manifests are everybody's; names, lists of people and tables are not
            whose = "private"
            self._check_known(request)
        headers = HEADERS | {"Cache-Control": f"{whose}, immutable, max-age=31536000"}
        headers["Content-Length"] = str(len(found))
        return StreamingResponse(pieces_of(found), 200, headers, "application/octet-stream")

    async def invitation(self, request: Request) -> Response:
        """Return the participant's own rows of a round's tables."""
        node = self.intake.node(request, self.revoked)
        return reply(200, self._round(request).invitation(node))

    async def status(self, request: Request) -> Response:
        """Tell a device whether reports are taken now, before it makes one."""
        found = self._round(request) if "study" in request.path_params else self.newest
        return reply(200, {"study": found.study.id, "open": found.is_open(), "reason": found.why_closed()})

    async def figures(self, request: Request) -> Response:
        """Return counts and times in Prometheus' text form."""
        if self.private_metrics:
            self.check_operator(request)
        stored = await asyncio.to_thread(self.newest.store.count)
        waiting = sum(each.writer.waiting for each in self.rounds.values())
        text = self.metrics.text(waiting=waiting, stored=stored)
        return Response(text, media_type=CONTENT_TYPE_LATEST, headers=HEADERS)

    async def alive(self, _: Request) -> Response:
        """Tell that the process lives."""
        return reply(200, {"status": "alive"})

    async def ready(self, _: Request) -> Response:
        """Tell whether the store answers, so that reports can be taken, and the keys can be read."""
        if not self.keys_read:
            return reply(503, {"status": "keys unreadable"})
        return reply(200, {"status": "ready"}) if self.health.ready else reply(503, {"status": "store away"})

    async def soon(self, unknown: UnknownStudy) -> Refused:
        """Ask for patience if a request is for a round that was just opened, perhaps by another collector."""
        known = isinstance(unknown.study, str) and _SHA256.fullmatch(unknown.study) is not None
        if known and await asyncio.to_thread(self.store.blob, str(unknown.study)) is not None:
            # Not 503, after which a proxy would take every collector for broken.
            return Refused(429, "new round", "This round opens in a moment; try again.", **{"Retry-After": "1"})
        return unknown

    def refuse(self, refused: Refused) -> Response:
        """Answer a refused request, and count it."""
        self._count(refused.reason)
        return reply(refused.status, {"error": str(refused)}, refused.headers)

    def slow_down(self, request: Request) -> None:
        """Refuse an address that asks too often."""
        wait = self.rate.wait(address_of(request, self.limits.proxied))
        if wait:
            seconds = str(int(wait) + 1)
            raise Refused(
                429, "too many requests", f"Too many requests; try again in {seconds} s.", **{"Retry-After": seconds}
            )

    def _round(self, request: Request) -> Round:
        found = self.rounds.get(request.path_params["study"])
        if found is None:
            raise UnknownStudy(request.path_params["study"], self.rounds)
        return found

    async def _write(
        self, round_: Round, nodes: list[int], bodies: list[bytes]
    ) -> list[Outcome | InvalidReports | Refused]:
        """Store reports. A round that is not open acknowledges what it has, so that no device waits for ever."""
        if round_.is_open():
            try:
                written = await round_.writer.submit(nodes, bodies)
                return [_gone() if result is Outcome.ERASED else result for result in written]
            except Busy:
                raise Refused(503, "busy", "The collector is busy; try again.", **{"Retry-After": "1"}) from None
            except StudyClosed:
                round_.closed = True
        stored = await asyncio.to_thread(round_.store.bodies, nodes)
        erased = await asyncio.to_thread(round_.store.erased, nodes)
        results: list[Outcome | InvalidReports | Refused] = []
        for node, body in zip(nodes, bodies, strict=True):
            refused = _gone() if node in erased else Refused(403, "not open", round_.why_closed())
            results.append(Outcome.REPEATED if stored.get(node) == body else refused)
        return results

    def check_operator(self, request: Request) -> None:
        """Refuse a request without a key of the operator, and every one while nobody knows which keys are retired."""
        if not self.keys_read:
            raise Refused(503, "keys unreadable", _UNREADABLE, **{"Retry-After": "5"})
        if not self._is_operator(request):
            raise Refused(401, "operator key", "The operator's key is needed.", **{"WWW-Authenticate": "Bearer"})

    def _is_operator(self, request: Request) -> bool:
        return self.access.is_operator(request.headers.get("authorization", "").removeprefix("Bearer ").strip())

    def _check_known(self, request: Request) -> None:
        """Refuse a request that is neither a participant's nor the operator's."""
        if not (self.keys_read and self._is_operator(request)):
            self.intake.node(request, self.revoked)

    def _count(self, *reasons: str) -> None:
        self.rejected.update(reasons)
        self.refusals.add(reasons)
        self.metrics.refuse(reasons)

    async def _watch(self, tasks: list[asyncio.Task[None]]) -> None:
        while True:
            await asyncio.sleep(1)
            with contextlib.suppress(Exception), self.health.look():  # a store that is away is asked again
                self._adopt(await asyncio.to_thread(self._look), tasks)
                await asyncio.to_thread(self.flush)
            self.refusals.tell()

    def _look(self) -> list[Round]:
        """Look for keys, revocations and closings, and return the rounds that are new."""
        self._admit()
        self.revoked = self.store.revoked()
        for known in list(self.rounds.values()):
            was = known.is_open_now
            known.look()
            if was and not known.is_open_now:
                by = "operator" if known.closed else "time"
                self.events("closed", study=known.study.id, by=by, stored=known.store.count())
        new = [each for each in self.store.chain().rounds if each.id not in self.rounds]
        return [Round(self.store.at(each), self.metrics.commit) for each in new]

    def _admit(self) -> None:
        """Use the tokens and keys that are good now; while they cannot be read, old tokens and no operator's key."""
        try:
            access = self.access if self.renew is None else self.renew()
        except (PrivetError, OSError, ValueError) as error:
            if self.keys_read:
                self.events("keys unreadable", error=type(error).__name__)
            self.keys_read = False
            return
        self.keys_read = True
        if access != self.access:
            self.events("keys", signing=1 + len(access.tokens.older), operator=len(access.operator))
            self.access = access
            self.tokens = self.intake.tokens = access.tokens

    def _adopt(self, found: list[Round], tasks: list[asyncio.Task[None]]) -> None:
        """Serve new rounds from now on; in the thread of the event loop."""
        for each in found:
            if self.rounds:
                self.events("round", study=each.study.id, round=each.study.round)
            tasks.append(asyncio.create_task(each.writer.run()))
            self.rounds[each.study.id] = each
            self.intake.forms[each.study.id] = each.form

    def flush(self) -> None:
        """Write the counts of refused submissions down."""
        counted, self.rejected = self.rejected, Tally()
        try:
            self.newest.store.reject(counted)
        except BaseException:
            self.rejected.update(counted)  # for the next time
            raise


def _gone() -> Refused:
    return Refused(410, "erased", _ERASED)
