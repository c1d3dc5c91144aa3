"""A limit on the requests of one address; addresses live in memory only, and are never written anywhere."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

__all__ = ["RateLimit"]

_MOST_ADDRESSES = 100_000


class RateLimit:
    """A bucket of requests for each address.

    Args:
        rate: Requests that are put back into a bucket in a second; 0 limits nothing.
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
