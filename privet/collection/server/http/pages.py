"""The participant's and the operator's page, served with a strict Content-Security-Policy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from privet.collection.server.http.replies import Endpoint

__all__ = ["PAGE_HEADERS", "Pages", "page_routes"]

_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PAGE_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-cache",
}
_WORKER = "worker.js"
_PARTICIPANT = "participate.html"


@dataclass(frozen=True)
class Pages:
    """The files of both pages, read once, so that what is served and its hash belong together.

    Attributes:
        contents: The bytes of each file by its path below the folder, with "/" between parts.
    """

    contents: Mapping[str, bytes]

    @classmethod
    def read(cls, folder: Traversable | None = None) -> Pages:
        """Read a folder and its subfolders; without one, the folder that privet ships."""
        root = folder if folder is not None else files("privet.collection.server.http") / "web"
        return cls({path: entry.read_bytes() for path, entry in _entries(root, "") if _kind(path) is not None})

    def worker(self) -> bytes:
        """Return the service worker, which knows the hash of every file of the participant's page."""
        kept = {"/": _PARTICIPANT}
        kept |= {f"/web/{path}": path for path in self.contents if not path.endswith(".html") and path != _WORKER}
        hashes = {url: hashlib.sha256(self.contents[path]).hexdigest() for url, path in sorted(kept.items())}
        listed = {url: digest for url, digest in hashes.items() if not url.startswith("/web/operator")}
        version = hashlib.sha256(json.dumps([listed, self.contents[_WORKER].hex()]).encode()).hexdigest()[:16]
        head = f"const VERSION = {json.dumps(version)};\nconst FILES = {json.dumps(listed, indent=2)};\n"
        return head.encode() + self.contents[_WORKER]


def page_routes(pages: Pages | None = None) -> dict[str, Endpoint]:
    """Return the routes / for participants, /operator for the operator, and those of the files that they load.

    Args:
        pages: The files to serve; those that privet ships without it.
    """
    shipped = pages or Pages.read()
    worker = shipped.worker()

    def page(path: str) -> Response:
        content = shipped.contents.get(path)
        if content is None:
            raise HTTPException(404, "Not Found")
        return Response(content, media_type=_kind(path), headers=PAGE_HEADERS)

    async def participant(_: Request) -> Response:
        return page(_PARTICIPANT)

    async def operator(_: Request) -> Response:
        return page("operator.html")

    async def service_worker(_: Request) -> Response:
        return Response(worker, media_type="text/javascript", headers=PAGE_HEADERS)

    async def part(request: Request) -> Response:
        return page(request.path_params["path"])

    return {"/": participant, "/operator": operator, "/sw.js": service_worker, "/web/{path:path}": part}


def _entries(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _entries(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry


def _kind(path: str) -> str | None:
    return _TYPES.get("." + path.rpartition(".")[2])
