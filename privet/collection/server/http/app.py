"""The collector as an ASGI application: an HTTP service that takes reports. It never sees a raw answer."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from privet.collection.server.http.background import Command, NextRound
from privet.collection.server.http.collector import CollectorState
from privet.collection.server.http.intake import BATCH_TYPE, MOST_REPORTS, REPORT_TYPE
from privet.collection.server.http.limits import Limits
from privet.collection.server.http.monitoring import Events
from privet.collection.server.http.openapi import (
    COUNT,
    JSON,
    STUDY_ID,
    TEXT,
    Operation,
    array_of,
    document,
    one_of,
    record,
    report_schema,
)
from privet.collection.server.http.operator_routes import LONGEST_DAYS, SHORTEST_DAYS, Download, OperatorRoutes
from privet.collection.server.http.pages import page_routes
from privet.collection.server.http.participant_routes import ParticipantRoutes
from privet.collection.server.http.replies import Endpoint, Refused, UnknownStudy, reply, try_later
from privet.collection.server.http.results_routes import Renderer, ResultsRoutes
from privet.collection.server.store.store import Store, StoreFailure
from privet.collection.study.tokens import Access, Tokens

__all__ = ["Limits", "create_app"]

_ANY = {"type": "object"}
_BINARY = {"type": "string", "format": "binary"}
_BODY = (400, 404, 408, 413, 415, 422)  # refusals of a body with reports
_PARTICIPANT, _OPERATOR = "the participant's token", "the operator's key"


def create_app(
    store: Store,
    tokens: Tokens,
    operator_key: str,
    limits: Limits | None = None,
    *,
    events: Events | None = None,
    renew: Callable[[], Access] | None = None,
    private_metrics: bool = False,
    next_round: Command | None = None,
    downloads: Mapping[str, Download] | None = None,
    results: Renderer | None = None,
) -> Starlette:
    """Make the collector of the store's study as an ASGI application.

    Args:
        store: Where reports are kept; it knows its study.
        tokens: Checks the participants' tokens.
        operator_key: Opens the operator's page.
        limits: The most that is taken; the defaults of :class:`Limits` without it.
        events: The log; none without it.
        renew: Returns the tokens and keys that are good now, which take the place of those given (default: they stay).
        private_metrics: Show metrics to the operator only.
        next_round: Returns the command that opens the next round for some days (default: the operator's page cannot).
        downloads: The forms in which the operator's page offers answers (default: none).
        results: Makes HTML of what people answered (default: it is not shown).
    """
    collector = CollectorState(
        store,
        tokens,
        operator_key,
        limits or Limits(),
        events=events or Events(),
        renew=renew,
        private_metrics=private_metrics,
    )
    operator = OperatorRoutes(collector, NextRound(store, next_round), downloads or {})
    operations = [*_participant_operations(collector), *_operator_operations(operator), *_monitoring(collector)]
    if results is not None:
        operations += _results(ResultsRoutes(collector, results))
    described = document(operations)

    async def openapi(_: Request) -> Response:
        return reply(200, described)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with collector.lifespan():
            try:
                yield
            finally:
                await operator.next_round.stop()

    async def other(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return reply(error.status_code, {"error": f"{error.detail}."}, dict(error.headers or {}))

    routes = [
        _route(each.method, each.path, _limited(collector, each.endpoint) if each.limited else each.endpoint)
        for each in operations
    ]
    undescribed = {"/status/{study}": ParticipantRoutes(collector).status, "/openapi.json": openapi}
    routes += [_route("GET", path, _limited(collector, endpoint)) for path, endpoint in undescribed.items()]
    # A class behind one address loads the page at once, and its files are in memory: they do not count.
    routes += [_route("GET", path, endpoint) for path, endpoint in page_routes().items()]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: other})
    app.state.rate, app.state.count = collector.rate, collector.count
    app.router.redirect_slashes = False  # a redirection would go to whatever host the request names
    return app


def _participant_operations(collector: CollectorState) -> list[Operation]:
    routes, reports = ParticipantRoutes(collector), report_schema(collector.store.study.release.wire)
    outcome = record(status=one_of("stored", "repeated"))
    packed = {**_BINARY, "description": "32 bytes of study id, then the body."}
    entries = array_of(record(token=TEXT, report=reports), 1, MOST_REPORTS)
    refused = array_of(record(row=COUNT, status=COUNT, error=TEXT))
    status = record(study=STUDY_ID, open={"type": "boolean"}, reason=TEXT)
    return [
        Operation(
            *("POST", "/reports", routes.submit),
            {201: ("Stored, and on disk.", outcome), 200: ("The same report was stored before.", outcome)},
            (401, 403, 409, 410, *_BODY),
            _PARTICIPANT,
            body={JSON: record(study=STUDY_ID, report=reports), REPORT_TYPE: packed},
        ),
        Operation(
            *("POST", "/reports/batch", routes.submit_batch),
            {200: ("The counts, and each refused row.", record(stored=COUNT, repeated=COUNT, refused=refused))},
            _BODY,
            body={JSON: record(study=STUDY_ID, reports=entries), BATCH_TYPE: _BINARY},
        ),
        Operation(
            *("GET", "/reports/{study}", routes.welcome),
            {200: ("A report of this participant would be taken now.", record(status={"const": "welcome"}))},
            (401, 403, 404, 409, 410),
            _PARTICIPANT,
        ),
        Operation(
            *("DELETE", "/reports", routes.withdraw),
            {200: ("All reports of the participant are erased.", record(status={"const": "erased"}))},
            (401,),
            _PARTICIPANT,
        ),
        Operation("GET", "/study", routes.manifest, {200: ("The manifest's canonical bytes.", _ANY)}),
        Operation(
            *("GET", "/public/{digest}", routes.public),
            {200: ("The bytes with this hash.", {"application/octet-stream": TEXT})},
            (401, 404),
            "a participant's token or the operator's key; manifests need neither?",
        ),
        Operation(
            *("GET", "/invitation/{study}", routes.invitation),
            {200: ("The participant's own rows of the round's tables, with proofs.", _ANY)},
            (401, 404),
            _PARTICIPANT,
        ),
        Operation("GET", "/status", routes.status, {200: ("Whether reports are taken now, and if not, why.", status)}),
    ]


def _operator_operations(routes: OperatorRoutes) -> list[Operation]:
    days = {"type": "number", "minimum": SHORTEST_DAYS, "maximum": LONGEST_DAYS}
    erasure = record(node=COUNT, minute=COUNT, by=one_of("participant", "operator"))
    erasures = record(count=COUNT, erasures=array_of(erasure))
    found = [
        Operation("GET", "/operator/summary", routes.summary, {200: ("The figures.", _ANY)}, (401,), _OPERATOR),
        Operation(
            *("POST", "/operator/close", routes.close),
            {200: ("The study is closed.", record(closed={"type": "boolean"}))},
            (401,),
            _OPERATOR,
        ),
        Operation(
            *("POST", "/operator/next", routes.next),
            {202: ("The computation has begun.", record(round=COUNT, running={"type": "boolean"}))},
            (400, 401, 408, 409, 413, 422),
            _OPERATOR,
            body={JSON: record(days=days)},
            body_required=False,
        ),
        Operation(
            *("GET", "/operator/erasures", routes.erasures),
            {200: ("Whose reports were erased, when and by whom, oldest first.", erasures)},
            (401,),
            _OPERATOR,
        ),
    ]
    if routes.downloads:
        kinds = {download.kind.partition(";")[0]: TEXT for download in routes.downloads.values()}
        found.append(
            Operation(
                *("GET", "/operator/export", routes.export),
                {200: ("The file.", kinds)},
                (401, 404, 422),
                _OPERATOR,
                query={"round": {"type": "integer", "minimum": 1}, "form": one_of(*routes.downloads)},
            )
        )
    return found


def _results(routes: ResultsRoutes) -> list[Operation]:
    page, language = {"text/html": TEXT}, {"lang": one_of("en", "de", "fr", "es")}
    return [
        Operation(
            *("GET", "/operator/results", routes.operator),
            {200: ("A part of the operator's page.", page)},
            (401, 422),
            _OPERATOR,
            query={"by": TEXT, **language},
        ),
        Operation("GET", "/results", routes.everybody, {200: ("A page.", page)}, (404,), query=language),
    ]


def _monitoring(collector: CollectorState) -> list[Operation]:
    private, figures = collector.private_metrics, {CONTENT_TYPE_LATEST: TEXT}
    ready = ("The store answers; reports can be taken.", record(status=one_of("ready")))
    away = ("The store does not answer, or the keys cannot be read.", ("store away", "keys unreadable"))
    return [
        Operation(
            *("GET", "/metrics", collector.figures),
            {200: ("Counts and times in Prometheus' text form.", figures)},
            (401,) if private else (),
            _OPERATOR if private else "",
        ),
        Operation(
            *("GET", "/healthz", collector.alive),
            {200: ("The process lives.", record(status=one_of("alive")))},
            limited=False,
        ),
        Operation(
            *("GET", "/readyz", collector.ready),
            {200: ready, 503: (away[0], record(status=one_of(*away[1])))},
            limited=False,
        ),
    ]


def _route(method: str, path: str, endpoint: Endpoint) -> Route:
    route = Route(path, endpoint)
    route.methods = {method}  # Starlette would add HEAD, which would do all the work of GET for nothing
    return route


def _limited(collector: CollectorState, route: Endpoint) -> Endpoint:
    """Put a route within the rate limit, and turn its refusals into answers."""

    async def endpoint(request: Request) -> Response:
        try:
            collector.slow_down(request)
            return await route(request)
        except UnknownStudy as unknown:
            return collector.refuse(await collector.soon(unknown))
        except Refused as refused:
            return collector.refuse(refused)
        except (StoreFailure, OSError) as error:  # a database's own words may quote a report, and are not passed on
            collector.store_trouble(error)
            return collector.refuse(try_later(503, "store", "The store did not answer; try again.", 5))
        finally:
            collector.intake.release(request)

    return endpoint
