"""The participant's and the operator's page, served with a strict Content-Security-Policy."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from privet.collection.server.http.bundling import bundle
from privet.collection.server.http.replies import Endpoint

__all__ = ["PAGE_HEADERS", "Pages", "page_routes"]

_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".map": "application/json",
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
_PARTICIPANT, _OPERATOR = "participate.html", "operator.html"
_FOR_EVER = "public, max-age=31536000, immutable"
_HASHED = re.compile(r"-[0-9a-f]{16}\.")
_NAMED = re.compile(r'(<(?:script|link rel="stylesheet")[^>]*? (?:src|href)=")/web/([\w./-]+)"')
_LOADED = re.compile(r' (?:src|href)="/web/([\w./-]+)"')


@dataclass(frozen=True)
class Pages:
    """The files of both pages, read once, so that what is served and its hash belong together.

    A page names its script and its style by their hash, so a browser may keep them for ever, and with the hash that it
    checks. The script is one for all modules.

    Attributes:
        contents: The bytes of each file by its path below the folder, with "/" between parts.
    """

    contents: Mapping[str, bytes]

    @classmethod
    def read(cls, folder: Traversable | None = None) -> Pages:
        """Read a folder and its subfolders; without one, the folder that privet ships."""
        root = folder if folder is not None else files("privet.collection.server.http") / "web"
        contents = {path: entry.read_bytes() for path, entry in _entries(root, "") if _kind(path) is not None}
        for page in (_PARTICIPANT, _OPERATOR):
            if page in contents:
                contents |= _built(contents, page)
        return cls(contents)

    def worker(self) -> bytes:
        """Return the service worker, which knows the hash of every file of the participant's page."""
        loaded = _LOADED.findall(self.contents[_PARTICIPANT].decode())
        kept = {"/": _PARTICIPANT} | {f"/web/{path}": path for path in loaded}
        kept |= {f"/web/{path}": path for path in self.contents if path.startswith("texts/") and path.endswith(".json")}
        hashes = {url: hashlib.sha256(self.contents[path]).hexdigest() for url, path in sorted(kept.items())}
        version = hashlib.sha256(json.dumps([hashes, self.contents[_WORKER].hex()]).encode()).hexdigest()[:16]
        head = f"const VERSION = {json.dumps(version)};\nconst FILES = {json.dumps(hashes, indent=2)};\n"
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
        caching = {"Cache-Control": _FOR_EVER} if _HASHED.search(path) else {}
        return Response(content, media_type=_kind(path), headers=PAGE_HEADERS | caching)

    async def participant(_: Request) -> Response:
        return page(_PARTICIPANT)

    async def operator(_: Request) -> Response:
        return page(_OPERATOR)

    async def service_worker(_: Request) -> Response:
        return Response(worker, media_type="text/javascript", headers=PAGE_HEADERS)

    async def part(request: Request) -> Response:
        return page(request.path_params["path"])

    return {"/": participant, "/operator": operator, "/sw.js": service_worker, "/web/{path:path}": part}


def _built(contents: Mapping[str, bytes], page: str) -> dict[str, bytes]:
    """Return a page that names its scripts and styles by their hashes, and these files."""
    made: dict[str, bytes] = {}

    def named(found: re.Match[str]) -> str:
        tag, path = found.groups()
        stem, _, ending = path.rpartition(".")
        content = contents[path]
        if 'type="module"' in tag:
            sources = {name: text.decode() for name, text in contents.items() if name.endswith(".js")}
            whole = bundle(sources, path)
            content = whole.script.encode()
            mapped = f"{stem}-{_short(content)}.js.map"
            made[mapped] = whole.source_map.encode()
            content += f"//# sourceMappingURL=/web/{mapped}\n".encode()
        name = f"{stem}-{_short(content)}.{ending}"
        made[name] = content
        integrity = base64.b64encode(hashlib.sha384(content).digest()).decode()
        return f'{tag}/web/{name}" integrity="sha384-{integrity}"'

    text = _NAMED.sub(named, contents[page].decode())
    return {**made, page: text.encode()}


def _short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _entries(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _entries(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry


def _kind(path: str) -> str | None:
    return _TYPES.get("." + path.rpartition(".")[2])
