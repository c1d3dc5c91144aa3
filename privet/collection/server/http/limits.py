"""Limits on what a collector takes, and on how long it waits. Addresses live in memory only, and are never written.

Connections are closed if they do not ask or do not read: uvicorn itself waits for either for ever.
"""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from starlette.requests import Request
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["ImpatientProtocol", "Limits", "RateLimit", "address_of"]

_MOST_ADDRESSES = 100_000
_FEW_ADDRESSES = 1_000
_LONGEST_ADDRESS = 100


@dataclass(frozen=True)
class Limits:
    """The most that a collector takes.

    Attributes:
        rate: Requests a second from one address, not counting the page's files; 0 disables the limit.
        burst: Requests that an address may send at once; a participant sends about six.
        batch_bytes: The bytes of a batch.
        proxied: Believe the last entry of X-Forwarded-For, which the nearest proxy wrote.
    """

    rate: float = 100.0
    burst: int = 1000
    batch_bytes: int = 8 << 20
    proxied: bool = False


class RateLimit:
    """A bucket of requests for each address.

    Args:
        rate: Requests that are put back into a bucket in a second; 0 disables the limit.
        burst: Requests in a full bucket.
        clock: The time in seconds.
    """

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, address: str) -> float:
        """Return 0 if a request may go on, otherwise the seconds until the next one may."""
        if self._rate <= 0:
            return 0.0
        now = self._clock()
        left, last = self._buckets.pop(address, (float(self._burst), now))
        left = min(float(self._burst), left + (now - last) * self._rate)
        allowed = left >= 1
        self._buckets[address] = (left - 1 if allowed else left, now)
        if len(self._buckets) > _MOST_ADDRESSES:
            self._buckets.popitem(last=False)  # the address that was silent for longest
        return 0.0 if allowed else (1 - left) / self._rate


def address_of(request: Request, proxied: bool) -> str:
    """Return the address that the rate limit counts; for IPv6, its network of 2^64 addresses."""
    peer = request.client.host if request.client else ""
    written = request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip() if proxied else ""
    given = written or peer
    return (_counted(given) if len(given) < _LONGEST_ADDRESS else None) or peer


@lru_cache(_FEW_ADDRESSES)
def _counted(text: str) -> str | None:
    """Return the address or network that a text is counted as; None if it is no address. Cached, as most come again."""
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    return str(found) if found.version == 4 else str(ipaddress.ip_network(f"{found}/64", strict=False))


HEAD_SECONDS = 10.0
HEAD_BYTES = 1 << 16
READ_SECONDS = 30.0


class ImpatientProtocol(HttpToolsProtocol):
    """A connection that is closed if its request's head is late or longer than any real one, or its reader stalls.

    Attributes:
        rate: Counts what is no HTTP by its address, as requests are counted; without it nothing is.
        unreadable: Told of each such attempt.
    """

    rate: RateLimit | None = None
    unreadable: Callable[[], None] = staticmethod(lambda: None)
    _alarm: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None
    _head = 0

    def connection_made(self, transport: Any) -> None:
        """Start the clock of the first head."""
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clocks: nothing is expected any more."""
        self._stop()
        self._stop_reading()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Start the clock of the next head; between requests uvicorn's keep-alive timeout holds."""
        if self._alarm is None:
            self._expect_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Stop the clock: the head is there, and the body has a clock of its own."""
        self._stop()
        super().on_headers_complete()

    @classmethod
    def counting(cls, rate: RateLimit, unreadable: Callable[[], None]) -> type[ImpatientProtocol]:
        """Return the protocol of a collector, which counts what is no HTTP together with its requests."""
        return type(cls.__name__, (cls,), {"rate": rate, "unreadable": staticmethod(unreadable)})

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP; an address that sends too much of it is cut off without a word."""
        self.unreadable()
        if self.rate is not None and self.rate.wait(_counted(self.client[0] if self.client else "") or ""):
            self.transport.abort()
        else:
            super().send_400_response(msg)

    def data_received(self, data: bytes) -> None:
        """Count what a head has so far."""
        super().data_received(data)
        if self._alarm is not None:
            self._head += len(data)
            if self._head > HEAD_BYTES:
                self.transport.close()

    def pause_writing(self) -> None:
        """Start the clock of a reader who leaves an answer lying; ``abort`` because ``close`` would wait for them."""
        super().pause_writing()
        self._stop_reading()
        self._reading = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the clock: the reader has caught up."""
        self._stop_reading()
        super().resume_writing()

    def _stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _expect_head(self) -> None:
        self._head = 0
        self._alarm = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
