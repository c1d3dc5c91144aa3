"""Answers of the collector: JSON that nobody caches, streamed bytes, and refusals in one sentence."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Any, BinaryIO, TypeAlias

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

__all__ = [
    "HEADERS", "Endpoint", "Refused", "UnknownStudy", "pieces_of_bytes", "pieces_of_file", "reply", "try_later",
]  # fmt: skip

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]

HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_PIECE_OF_BYTES, _PIECE_OF_FILE = 1 << 16, 1 << 18


class Refused(Exception):
    """A request that ends in one sentence and a status code.

    Attributes:
        status: The HTTP status.
        reason: The word that it is counted under.
        headers: Further headers of the answer.
    """

    def __init__(self, status: int, reason: str, sentence: str, **headers: str) -> None:
        super().__init__(sentence)
        self.status, self.reason, self.headers = status, reason, headers


class UnknownStudy(Refused):
    """A request for a round that this collector does not serve.

    Attributes:
        study: The id in the request.
    """

    def __init__(self, study: object, served: Iterable[str]) -> None:
        super().__init__(404, "another study", f"This collector has another study: {', '.join(served)}.")
        self.study = study


def try_later(status: int, reason: str, sentence: str, seconds: int = 1) -> Refused:
    """Return a refusal that says when to try again."""
    return Refused(status, reason, sentence, **{"Retry-After": str(seconds)})


def reply(status: int, document: Any, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer in JSON.

    Args:
        status: The HTTP status.
        document: A value that JSON can hold.
        headers: Further headers.
    """
    body = json.dumps(document, separators=(",", ":"))
    return Response(body, status, {**HEADERS, **(headers or {})}, "application/json")


async def pieces_of_bytes(content: bytes) -> AsyncIterator[bytes]:
    """Yield bytes piece by piece: the server waits after each, where it would copy the whole for a slow reader."""
    for start in range(0, len(content), _PIECE_OF_BYTES):
        yield content[start : start + _PIECE_OF_BYTES]


async def pieces_of_file(file: BinaryIO) -> AsyncIterator[bytes]:
    """Yield a file's bytes piece by piece, and close it, whether or not all of them are wanted."""
    try:
        while piece := await run_in_threadpool(file.read, _PIECE_OF_FILE):
            yield piece
    finally:
        file.close()
