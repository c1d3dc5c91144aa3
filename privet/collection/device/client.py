"""A device's side of the network: fetch what is public, send the report, and try again while the server is away."""

from __future__ import annotations

import ipaddress
import json
import random
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, Request, build_opener

from privet.collection.device.participant import Reply
from privet.errors import InvalidParameter, PrivetError

__all__ = ["Collector", "Invited", "NotDelivered"]

_LARGEST = 64 << 20
_LARGEST_INVITATION = 1 << 20
_NOTHING = "Nothing was made yet."
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
        ca: A file of certificates to trust instead of the system's (default: those, or ``SSL_CERT_FILE``).
        insecure: Allow http:// to another machine, where everybody on the way can read and use the owner's token
            (default: only to this machine).
    """

    def __init__(
        self,
        url: str,
        *,
        attempts: int = 8,
        timeout: float = 30.0,
        sleep: Callable[[float], None] = time.sleep,
        ca: str | Path | None = None,
        insecure: bool = False,
    ) -> None:
        try:
            parts = urlsplit(url)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise InvalidParameter("url", "an http:// or https:// address", url)
        if parts.scheme == "http" and not insecure and not _is_this_machine(parts.hostname or ""):
            raise InvalidParameter(
                f"{_printable(parts.hostname)} is another machine, and over http:// everybody on the way can read your "
                "token; use https."
            )
        self._url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._attempts, self._timeout, self._sleep = attempts, timeout, sleep
        secure = [HTTPSHandler(context=_trust(ca))] if parts.scheme == "https" else []
        self._opener = build_opener(_NoRedirects, *secure)

    def manifest(self, study_id: str) -> bytes:
        """Fetch a manifest as the server sends it: nothing is believed of it before its hash was checked.

        Args:
            study_id: The id that the owner was given.
        """
        status, body = self._ask(self._request(f"public/{study_id}"), _NOTHING)
        if status != 200:
            raise NotDelivered(
                f"The collector did not send the study that you were invited to, {study_id}: {_said(status, body)} "
                "Nothing was made."
            )
        return body

    def blob(self, digest: str, token: str) -> bytes:
        """Fetch the bytes with a SHA-256, which only those who take part may read; whoever asks checks the hash.

        Args:
            digest: The SHA-256 in hexadecimal.
            token: The owner's enrolment token.
        """
        status, body = self._ask(self._request(f"public/{digest}", token), _NOTHING)
        if status != 200:
            raise NotDelivered(f"The collector did not send {digest}: {_said(status, body)} Nothing was made.")
        return body

    def invitation(self, study_id: str, token: str) -> bytes:
        """Fetch the owner's rows of a round's tables.

        Args:
            study_id: The id of the round.
            token: The owner's enrolment token.
        """
        request = self._request(f"invitation/{study_id}", token)
        status, body = self._ask(request, _NOTHING, _LARGEST_INVITATION + 1)
        if status != 200:
            raise NotDelivered(f"The collector did not send your invitation: {_said(status, body)} Nothing was made.")
        if len(body) > _LARGEST_INVITATION:
            raise NotDelivered("The collector sent an invitation of more than 1 MiB, which none is. Nothing was made.")
        return body

    def why_closed(self, study_id: str) -> str | None:
        """Ask the collector why it takes no reports for a round; None if it takes them.

        A server may lie. One that says "closed" gets no report; one that says "open" gets what it would get anyway.

        Args:
            study_id: The id of the round.
        """
        status, body = self._ask(self._request(f"status/{study_id}"), _NOTHING)
        answer = _document(body)
        if status != 200 or not isinstance(answer.get("open"), bool):
            raise NotDelivered(f"The collector did not say whether the study is open: {_said(status, body)}")
        return None if answer["open"] else _printable(answer.get("reason", "")) or "The study takes no reports now."

    def why_refused(self, study_id: str, token: str) -> str | None:
        """Ask the collector why it would refuse a report of this person; None if it would take one.

        A device whose ledger was lost would otherwise draw a second report, and whoever has both knows more than the
        ledger says.

        Args:
            study_id: The id of the round.
            token: The owner's enrolment token.
        """
        status, body = self._ask(self._request(f"reports/{study_id}", token), _NOTHING)
        answer = _document(body)
        if status == 200 and answer.get("status") == "welcome":
            return None
        return _printable(answer.get("error", "")) or f"The collector answered with status {status}."

    def send(self, reply: Reply, token: str) -> str:
        """Deliver a report.

        Args:
            token: The owner's enrolment token.

        Returns:
            "stored", or "repeated" where the collector had it already.
        """
        request = self._request("reports", token)
        request.data = bytes.fromhex(reply.study.id) + reply.body
        request.add_header("Content-Type", "application/vnd.privet.report")
        status, answer = self._ask(request, "The report is kept; sending it again costs nothing.")
        expected = {201: "stored", 200: "repeated"}.get(status)
        if expected is None or _document(answer).get("status") != expected:
            raise NotDelivered(f"The collector refused the report: {_said(status, answer)}")
        return expected

    def withdraw(self, token: str) -> None:
        """Ask the collector to erase all that a person sent in the study, in every round; again does no harm.

        Args:
            token: The owner's enrolment token.
        """
        request = self._request("reports", token, "DELETE")
        status, answer = self._ask(request, "Nothing was erased, as far as is known; ask again.")
        if status != 200 or _document(answer).get("status") != "erased":
            raise NotDelivered(f"The collector did not erase your reports: {_said(status, answer)}")

    def _request(self, path: str, token: str = "", method: str | None = None) -> Request:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return Request(f"{self._url}/{path}", headers=headers, method=method)

    def _ask(self, request: Request, otherwise: str, most: int = _LARGEST) -> tuple[int, bytes]:
        trouble: object = None
        for attempt in range(self._attempts):
            if attempt:
                # Jitter, so that devices that lost a server together do not come back together.
                self._sleep(min(60.0, 0.25 * 2**attempt) * random.uniform(0.5, 1.0))
            try:
                with self._opener.open(request, timeout=self._timeout) as response:
                    return response.status, response.read(most)
            except HTTPError as error:
                if error.code not in _TRY_AGAIN:
                    return error.code, error.read(1 << 16)
                trouble = f"status {error.code}"
            except (URLError, OSError, HTTPException) as error:
                trouble = getattr(error, "reason", error)
        raise NotDelivered(
            f"The collector at {self._url} did not answer in {self._attempts} attempts ({trouble}). {otherwise}"
        )


@dataclass(frozen=True)
class Invited:
    """A collector as the source of what a device needs before it answers.

    Attributes:
        token: The owner's enrolment token, which opens public data and the owner's own rows.
    """

    collector: Collector
    token: str = field(repr=False)

    def blob(self, digest: str) -> bytes:
        """Return the public bytes with a SHA-256."""
        return self.collector.blob(digest, self.token)

    def invitation(self, study_id: str) -> bytes:
        """Return the owner's rows of a round's tables."""
        return self.collector.invitation(study_id, self.token)


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@cache
def _trust(ca: str | Path | None) -> ssl.SSLContext:
    """Load the certificates to trust, once: reading the system's takes as long as many requests."""
    try:
        return ssl.create_default_context(cafile=ca)
    except OSError:
        raise InvalidParameter(f"The certificates {ca} cannot be read. Give a file in PEM form.") from None


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
