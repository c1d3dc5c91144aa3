"""The collector: an HTTP service that hands out the manifest and takes reports. It never sees a raw answer.

Nothing here writes a network address anywhere, and no report is ever logged. A report is acknowledged when it is on
disk; a repetition with the same bytes is acknowledged again, a different one is refused with 409 and recorded.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import json
from collections import Counter as Tally
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from fastapi import FastAPI, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, generate_latest
from starlette.exceptions import HTTPException

from privet.collection.server.intake import Intake, Refused, Revoked
from privet.collection.server.limits import RateLimit
from privet.collection.server.openapi import CLOSE, MANIFEST, METRICS, STATUS, SUMMARY, batch_route, report_route
from privet.collection.server.pages import add_pages
from privet.collection.server.store import Outcome, Store, StoreFailure, StudyClosed
from privet.collection.server.writer import Busy, GroupWriter
from privet.collection.tokens import Tokens
from privet.errors import InvalidReports

__all__ = ["Limits", "create_app"]

_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_STATUS = {Outcome.STORED: 201, Outcome.REPEATED: 200, Outcome.CONFLICT: 409}
_DIFFERENT = "A different report of this participant is stored already, and a report cannot be changed."


@dataclass(frozen=True)
class Limits:
    """The most that a collector takes.

    Attributes:
        rate: Requests a second from one address; 0 for any number.
        burst: Requests that an address may send at once.
        batch_bytes: The bytes of a batch.
        proxied: Believe the last entry of X-Forwarded-For, which the nearest proxy wrote.
    """

    rate: float = 50.0
    burst: int = 200
    batch_bytes: int = 8 << 20
    proxied: bool = False


@dataclass(eq=False)
class Collector:
    """The service of one study: what the routes of :func:`create_app` call.

    Attributes:
        store: Where reports are kept.
        tokens: Checks the participants' tokens.
        operator_key: Opens the operator's page.
        limits: The most that is taken.
    """

    store: Store
    tokens: Tokens
    operator_key: str = field(repr=False)
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        self.study = self.store.study
        self.intake = Intake(self.tokens, self.limits.batch_bytes)
        self.rate = RateLimit(self.limits.rate, self.limits.burst)
        self.registry = CollectorRegistry()
        self.reports = Counter("privet_reports", "Submitted reports.", ["outcome"], registry=self.registry)
        self.stored = Gauge("privet_reports_in_store", "Nodes that have reported.", registry=self.registry)
        self.answers = {outcome: _reply(_STATUS[outcome], {"status": str(outcome)}) for outcome in Outcome}
        self.answers[Outcome.CONFLICT] = _reply(409, {"error": _DIFFERENT})
        self.revoked: Revoked = frozenset()
        self.closed = False

    @contextlib.asynccontextmanager
    async def lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        """Write while the service lives; look for revocations and the operator's closing once a second."""
        self.writer = GroupWriter(self.store)
        self._look()
        tasks = [asyncio.create_task(self.writer.run()), asyncio.create_task(self._watch())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.to_thread(self.writer.flush_rejections)

    async def submit(self, request: Request) -> Response:
        """Take one report, as JSON or packed."""
        node = self.intake.node(request, self.revoked)
        (result,) = await self._write([node], [await self.intake.report(request)])
        if isinstance(result, InvalidReports):
            raise Refused(422, "invalid report", str(result))
        if isinstance(result, Refused):
            raise result
        self.reports.labels(str(result)).inc()
        return self.answers[result]

    async def submit_batch(self, request: Request) -> Response:
        """Take many reports with a token each; every row is stored or refused on its own."""
        batch = await self.intake.batch(request, self.revoked)
        results = await self._write(batch.nodes, batch.bodies) if batch.nodes else []
        counts = Tally(results)
        for row, result in zip(batch.rows, results, strict=True):
            if isinstance(result, InvalidReports):
                batch.refused.append((row, Refused(422, "invalid report", str(result))))
            elif isinstance(result, Refused):
                batch.refused.append((row, result))
            elif result is Outcome.CONFLICT:
                batch.refused.append((row, Refused(409, "conflict", _DIFFERENT)))
        for outcome in Outcome:
            self.reports.labels(str(outcome)).inc(counts[outcome])
        self._count(*(refused.reason for _, refused in batch.refused if refused.status != 409))
        listed = sorted((row, refused.status, str(refused)) for row, refused in batch.refused)
        answer = {
            "stored": counts[Outcome.STORED],
            "repeated": counts[Outcome.REPEATED],
            "refused": [{"row": row, "status": status, "error": text} for row, status, text in listed],
        }
        return _reply(200, answer)

    async def summary(self, request: Request) -> Response:
        """Return what the operator's page shows."""
        self._operator(request)
        return _reply(200, await asyncio.to_thread(self._summary))

    async def close(self, request: Request) -> Response:
        """End the study, for its operator."""
        self._operator(request)
        await asyncio.to_thread(self.store.close)
        self.closed = True
        return _reply(200, {"closed": True})

    async def manifest(self, _: Request) -> Response:
        """Return the manifest in its canonical bytes; their SHA-256 is the study's id."""
        return Response(self.study.canonical(), media_type="application/json", headers=_HEADERS)

    async def status(self, _: Request) -> Response:
        """Tell a device whether reports are taken now, before it makes one."""
        taken = self._open()
        return _reply(200, {"study": self.study.id, "open": taken, "reason": "" if taken else self._when()})

    async def metrics(self, _: Request) -> Response:
        """Return counts in Prometheus' text form."""
        self.stored.set(await asyncio.to_thread(self.store.count))
        return Response(generate_latest(self.registry), media_type=CONTENT_TYPE_LATEST, headers=_HEADERS)

    def refuse(self, refused: Refused) -> Response:
        """Answer a refused request, and count it."""
        self._count(refused.reason)
        return _reply(refused.status, {"error": str(refused)}, refused.headers)

    def slow_down(self, request: Request) -> None:
        """Refuse an address that asks too often."""
        wait = self.rate.wait(_address(request, self.limits.proxied))
        if wait:
            seconds = str(int(wait) + 1)
            raise Refused(
                429, "too many requests", f"Too many requests; try again in {seconds} s.", **{"Retry-After": seconds}
            )

    async def _write(self, nodes: list[int], bodies: list[bytes]) -> list[Outcome | InvalidReports | Refused]:
        """Store reports. A study that is not open acknowledges what it has, so that no device waits for ever."""
        if self._open():
            try:
                return list(await self.writer.submit(nodes, bodies))
            except Busy:
                raise Refused(503, "busy", "The collector is busy; try again.", **{"Retry-After": "1"}) from None
            except StudyClosed:
                self.closed = True
        stored = await asyncio.to_thread(self.store.bodies, nodes)
        known = (stored.get(node) == body for node, body in zip(nodes, bodies, strict=True))
        return [Outcome.REPEATED if same else Refused(403, "not open", self._when()) for same in known]

    def _operator(self, request: Request) -> None:
        given = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
        if not hmac.compare_digest(given.encode(), self.operator_key.encode()):
            raise Refused(401, "operator key", "The operator's key is needed.", **{"WWW-Authenticate": "Bearer"})

    def _open(self) -> bool:
        return not self.closed and self.study.is_open(datetime.now(UTC))

    def _when(self) -> str:
        if self.closed:
            return "The study was closed by its operator."
        return (
            f"The study takes reports from {self.study.opens:%Y-%m-%d %H:%M} to {self.study.closes:%Y-%m-%d %H:%M} UTC."
        )

    def _count(self, *reasons: str) -> None:
        self.writer.rejected.update(reasons)
        self.reports.labels("refused").inc(len(reasons))

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(1)
            with contextlib.suppress(Exception):  # a store that is away for a moment is asked again
                await asyncio.to_thread(self._look)
                await asyncio.to_thread(self.writer.flush_rejections)

    def _look(self) -> None:
        self.revoked, self.closed = self.store.revoked(), self.store.is_closed()

    def _summary(self) -> dict[str, Any]:
        self.writer.flush_rejections()
        guarantee = self.study.guarantee()
        return {
            "study": self.study.id,
            "title": self.study.title,
            "nodes": self.study.nodes,
            "stored": self.store.count(),
            "opens": self.study.opens.isoformat(),
            "closes": self.study.closes.isoformat(),
            "closed": self.closed or datetime.now(UTC) >= self.study.closes,
            "timeline": self.store.timeline(),
            "rejected": self.store.rejections(),
            "conflicts": self.store.conflicts(),
            "guarantee": {**guarantee.to_dict(), "in_words": guarantee.in_words()},
            "cost": self.study.cost(),
            "models": self.store.models(),
        }


def create_app(store: Store, tokens: Tokens, operator_key: str, limits: Limits | None = None) -> FastAPI:
    """Make the collector of the store's study as an ASGI application.

    Args:
        store: Where reports are kept; it knows its study.
        tokens: Checks the participants' tokens.
        operator_key: Opens the operator's page.
        limits: The most that is taken; the defaults of :class:`Limits` without it.
    """
    collector = Collector(store, tokens, operator_key, limits or Limits())
    app = FastAPI(
        title="privet collector",
        description="Takes perturbed reports of one study. Raw answers never leave a device.",
        version="1",
        lifespan=collector.lifespan,
        default_response_class=Response,  # each route's description names its own types
        docs_url=None,  # its pages would fetch scripts from elsewhere
        redoc_url=None,
        openapi_url=None,  # served below, like everything else within the rate limit
    )

    async def openapi(_: Request) -> Response:
        return _reply(200, app.openapi())

    def limited(route: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            try:
                collector.slow_down(request)
                return await route(request)
            except Refused as refused:
                return collector.refuse(refused)
            except (StoreFailure, OSError):  # what the database has to say may quote a report, so nobody hears it
                away = "The store did not answer; try again."
                return collector.refuse(Refused(503, "store", away, **{"Retry-After": "5"}))
            finally:
                collector.intake.release(request)

        endpoint.__name__, endpoint.__doc__ = route.__name__, route.__doc__
        return endpoint

    wire = store.study.release.wire
    app.get("/study", openapi_extra=MANIFEST)(limited(collector.manifest))
    app.get("/status", openapi_extra=STATUS)(limited(collector.status))
    app.post("/reports", openapi_extra=report_route(wire))(limited(collector.submit))
    app.post("/reports/batch", openapi_extra=batch_route(wire))(limited(collector.submit_batch))
    app.get("/operator/summary", openapi_extra=SUMMARY)(limited(collector.summary))
    app.post("/operator/close", openapi_extra=CLOSE)(limited(collector.close))
    app.get("/metrics", openapi_extra=METRICS)(limited(collector.metrics))
    app.get("/openapi.json", include_in_schema=False)(limited(openapi))
    add_pages(app, limited)

    @app.exception_handler(HTTPException)
    async def other(_: Request, error: HTTPException) -> Response:
        return _reply(error.status_code, {"error": f"{error.detail}."}, dict(error.headers or {}))

    return app


def _address(request: Request, proxied: bool) -> str:
    """Return what the rate limit counts: an address, or the network of 2^64 that an IPv6 address is one of."""
    peer = request.client.host if request.client else ""
    written = request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip() if proxied else ""
    try:
        found = ipaddress.ip_address(written or peer)
    except ValueError:
        return peer
    return str(found) if found.version == 4 else str(ipaddress.ip_network(f"{found}/64", strict=False))


def _reply(status: int, document: Any, headers: dict[str, str] | None = None) -> Response:
    body = json.dumps(document, separators=(",", ":"))
    return Response(body, status, {**_HEADERS, **(headers or {})}, "application/json")
