"""A device's side of the network: fetch the manifest, send the report, and try again while the server is away."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from privet.collection.device.participant import Reply
from privet.errors import InvalidParameter, PrivetError

__all__ = ["Collector", "NotDelivered"]

_LARGEST_MANIFEST = 64 << 20
_TRY_AGAIN = {429, 500, 502, 503, 504}


class NotDelivered(PrivetError):
    """The collector did not take the report; it is kept, and sending it again costs nothing."""


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """A token is for the server that was named, and for no other."""


class Collector:
    """The HTTP address of a collector, as a device sees it."""

    def __init__(
        self, url: str, *, attempts: int = 8, timeout: float = 30.0, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        try:
            parts = urlsplit(url)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise InvalidParameter("url", "the collector", "an http:// or https:// address", url)
        self._url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._attempts, self._timeout, self._sleep = attempts, timeout, sleep
        self._opener = build_opener(_NoRedirects)

    def manifest(self) -> bytes:
        """The manifest as the server sends it: nothing is believed of it before its hash was checked."""
        status, body = self._ask(Request(f"{self._url}/study"), "nothing was made yet")
        if status != 200:
            raise NotDelivered(f"The collector must answer with a manifest. Got {_error(status, body)} instead.")
        return body

    def send(self, reply: Reply, token: str) -> str:
        """Deliver a report; ``"stored"``, or ``"repeated"`` where the collector had it already."""
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/vnd.privet.report"}
        body = bytes.fromhex(reply.study.id) + reply.body
        status, answer = self._ask(Request(f"{self._url}/reports", body, headers), "the report is kept")
        expected = {201: "stored", 200: "repeated"}.get(status)
        if expected is None or _document(answer).get("status") != expected:
            raise NotDelivered(f"The collector must take the report. Got {_error(status, answer)} instead.")
        return expected

    def _ask(self, request: Request, otherwise: str) -> tuple[int, bytes]:
        trouble: object = None
        for attempt in range(self._attempts):
            if attempt:
                # Jitter, so that devices that lost a server together do not come back together.
                self._sleep(min(60.0, 0.25 * 2**attempt) * random.uniform(0.5, 1.0))
            try:
                with self._opener.open(request, timeout=self._timeout) as response:
                    return response.status, response.read(_LARGEST_MANIFEST)
            except HTTPError as error:
                if error.code not in _TRY_AGAIN:
                    return error.code, error.read(1 << 16)
                trouble = f"status {error.code}"
            except (URLError, OSError, HTTPException) as error:
                trouble = getattr(error, "reason", error)
        found = f"{trouble} after {self._attempts} attempts"
        raise NotDelivered(f"The collector at {self._url} must answer. Got {found} instead; {otherwise}.")


def _error(status: int, body: bytes) -> str:
    """The server's words, of which only printable ones reach the owner's screen."""
    said = "".join(letter if letter.isprintable() else " " for letter in str(_document(body).get("error", "")))
    return f"{status} ({said[:200]})" if said.strip() else str(status)


def _document(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body[: 1 << 12])
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
