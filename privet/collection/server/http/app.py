"""The collector as an ASGI application: an HTTP service that takes reports. It never sees a raw answer."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.routing import Route

from privet.collection.server.http.access import Access
from privet.collection.server.http.desk import Desk
from privet.collection.server.http.events import Events
from privet.collection.server.http.intake import Refused, UnknownStudy
from privet.collection.server.http.limits import Limits
from privet.collection.server.http.openapi import (
    ALIVE,
    CLOSE,
    ERASURES,
    EXPORT,
    INVITATION,
    MANIFEST,
    NEXT,
    PUBLIC,
    READY,
    STATUS,
    SUMMARY,
    WELCOME,
    WITHDRAWAL,
    batch_route,
    metrics_route,
    report_route,
)
from privet.collection.server.http.pages import add_pages
from privet.collection.server.http.replies import reply
from privet.collection.server.store.collector import Collector
from privet.collection.server.store.store import Store, StoreFailure
from privet.collection.server.store.successor import Command, Successor
from privet.collection.study.tokens import Tokens

__all__ = ["Limits", "create_app"]


def create_app(
    store: Store,
    tokens: Tokens,
    operator_key: str,
    limits: Limits | None = None,
    *,
    events: Events | None = None,
    renew: Callable[[], Access] | None = None,
    private_metrics: bool = False,
    successor: Command | None = None,
) -> FastAPI:
    """Make the collector of the store's study as an ASGI application.

    Args:
        store: Where reports are kept; it knows its study.
        tokens: Checks the participants' tokens.
        operator_key: Opens the operator's page.
        limits: The most that is taken; the defaults of :class:`Limits` without it.
        events: The log; none without it.
        renew: Returns the tokens and keys that are good now, which take the place of those given (default: they stay).
        private_metrics: Show metrics to the operator only.
        successor: Returns the command that opens the next round for some days (default: the operator's page cannot).
    """
    collector = Collector(
        store,
        tokens,
        operator_key,
        limits or Limits(),
        events=events or Events(),
        renew=renew,
        private_metrics=private_metrics,
    )
    desk = Desk(collector, Successor(store, successor))

    @contextlib.asynccontextmanager
    async def lifespan(application: FastAPI) -> AsyncIterator[None]:
        async with collector.lifespan(application):
            try:
                yield
            finally:
                await desk.successor.stop()

    app = FastAPI(
        title="privet collector",
        description="Takes perturbed reports of one study. Raw answers never leave a device.",
        version="1",
        lifespan=lifespan,
        default_response_class=Response,  # each route's description names its own types
        docs_url=None,  # its pages would fetch scripts from elsewhere
        redoc_url=None,
        openapi_url=None,  # served below, like everything else within the rate limit
    )

    async def openapi(_: Request) -> Response:
        return reply(200, app.openapi())

    def limited(route: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            try:
                collector.slow_down(request)
                return await route(request)
            except UnknownStudy as unknown:
                return collector.refuse(await collector.soon(unknown))
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
    # Found before the route that describes it, and without FastAPI's work on parameters, of which there are none here.
    app.router.routes.append(Route("/reports", limited(collector.submit), methods=["POST"]))
    app.get("/study", openapi_extra=MANIFEST)(limited(collector.manifest))
    app.get("/public/{digest}", openapi_extra=PUBLIC)(limited(collector.public))
    app.get("/invitation/{study}", openapi_extra=INVITATION)(limited(collector.invitation))
    app.get("/status", openapi_extra=STATUS)(limited(collector.status))
    app.get("/status/{study}", include_in_schema=False)(limited(collector.status))
    app.post("/reports", openapi_extra=report_route(wire))(limited(collector.submit))
    app.get("/reports/{study}", openapi_extra=WELCOME)(limited(collector.welcome))
    app.delete("/reports", openapi_extra=WITHDRAWAL)(limited(collector.withdraw))
    app.post("/reports/batch", openapi_extra=batch_route(wire))(limited(collector.submit_batch))
    app.get("/operator/summary", openapi_extra=SUMMARY)(limited(desk.summary))
    app.post("/operator/close", openapi_extra=CLOSE)(limited(desk.close))
    app.post("/operator/next", openapi_extra=NEXT)(limited(desk.next))
    app.get("/operator/export", openapi_extra=EXPORT)(limited(desk.export))
    app.get("/operator/erasures", openapi_extra=ERASURES)(limited(desk.erasures))
    app.get("/metrics", openapi_extra=metrics_route(private_metrics))(limited(collector.figures))
    app.get("/healthz", openapi_extra=ALIVE)(collector.alive)
    app.get("/readyz", openapi_extra=READY)(collector.ready)
    app.get("/openapi.json", include_in_schema=False)(limited(openapi))
    add_pages(app, limited)

    @app.exception_handler(HTTPException)
    async def other(_: Request, error: HTTPException) -> Response:
        return reply(error.status_code, {"error": f"{error.detail}."}, dict(error.headers or {}))

    return app
