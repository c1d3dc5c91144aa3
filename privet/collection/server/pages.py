"""The participant's and the operator's page, served with a strict Content-Security-Policy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import TypeAlias

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

__all__ = ["add_pages"]

Route: TypeAlias = Callable[[Request], Awaitable[Response]]

_TYPES = {".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".svg": "image/svg+xml"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-cache",
}


def add_pages(app: FastAPI, limited: Callable[[Route], Route]) -> None:
    """Add the routes / for participants, /operator for the operator, and those of the files that they load."""
    shipped = {entry.name: entry for entry in (files("privet.collection.server") / "web").iterdir() if entry.is_file()}

    def page(name: str) -> Response:
        entry = shipped.get(name)
        kind = _TYPES.get("." + name.rpartition(".")[2])
        if entry is None or kind is None:
            raise HTTPException(404, "Not Found")
        return Response(entry.read_bytes(), media_type=kind, headers=_HEADERS)

    async def participant(_: Request) -> Response:
        return page("participate.html")

    async def operator(_: Request) -> Response:
        return page("operator.html")

    async def part(request: Request) -> Response:
        return page(request.path_params["name"])

    for path, route in (("/", participant), ("/operator", operator), ("/web/{name}", part)):
        app.get(path, include_in_schema=False)(limited(route))
