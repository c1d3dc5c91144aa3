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
        """Follow nothing: a token is for the server that was named, and for no other."""


class Collector:
    """The HTTP address of a collector, as a device sees it.

    Args:
        url: An http:// or https:// address; what follows "#" is never sent.
        attempts: How often a request is made before the device gives up.
        timeout: How long an answer may take, in seconds.
        sleep: Waits between two attempts.
    """

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
        """Fetch the manifest as the server sends it: nothing is believed of it before its hash was checked."""
        status, body = self._ask(Request(f"{self._url}/study"), "Nothing was made yet.")
        if status != 200:
            raise NotDelivered(f"The collector did not send a manifest: {_said(status, body)}")
        return body

    def why_closed(self) -> str | None:
        """Ask the collector why it takes no reports; None if it takes them.

        A server may lie. One that says "closed" gets no report; one that says "open" gets what it would get anyway.
        """
        status, body = self._ask(Request(f"{self._url}/status"), "Nothing was made yet.")
        answer = _document(body)
        if status != 200 or not isinstance(answer.get("open"), bool):
            raise NotDelivered(f"The collector did not say whether the study is open: {_said(status, body)}")
        return None if answer["open"] else _printable(answer.get("reason", "")) or "The study takes no reports now."

    def send(self, reply: Reply, token: str) -> str:
        """Deliver a report.

        Args:
            reply: The report.
            token: The owner's enrolment token.

        Returns:
            "stored", or "repeated" where the collector had it already.
        """
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/vnd.privet.report"}
        body = bytes.fromhex(reply.study.id) + reply.body
        kept = "The report is kept; sending it again costs nothing."
        status, answer = self._ask(Request(f"{self._url}/reports", body, headers), kept)
        expected = {201: "stored", 200: "repeated"}.get(status)
        if expected is None or _document(answer).get("status") != expected:
            raise NotDelivered(f"The collector refused the report: {_said(status, answer)}")
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
        raise NotDelivered(
            f"The collector at {self._url} did not answer in {self._attempts} attempts ({trouble}). {otherwise}"
        )


def _said(status: int, body: bytes) -> str:
    """Return the server's words as a sentence."""
    said = _printable(_document(body).get("error", "")).rstrip(".")
    return f"{said} (status {status})." if said else f"it answered with status {status}."


def _printable(text: object) -> str:
    """Keep what may reach the owner's screen of a server's words."""
    return "".join(letter if letter.isprintable() else " " for letter in str(text))[:200].strip()


def _document(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body[: 1 << 12])
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
