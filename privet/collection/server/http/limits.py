"""Limits on what a collector takes. Addresses live in memory only, and are never written anywhere."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from starlette.requests import Request

__all__ = ["Limits", "RateLimit", "address_of"]

_MOST_ADDRESSES = 100_000
_FEW_ADDRESSES = 1_000
_LONGEST_ADDRESS = 100


@dataclass(frozen=True)
class Limits:
    """The most that a collector takes.

    Attributes:
        rate: Requests a second from one address; 0 disables the limit.
        burst: Requests that an address may send at once.
        batch_bytes: The bytes of a batch.
        proxied: Believe the last entry of X-Forwarded-For, which the nearest proxy wrote.
    """

    rate: float = 50.0
    burst: int = 200
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
