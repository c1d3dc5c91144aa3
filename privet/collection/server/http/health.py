"""Health of a collector: alive if it answers at all, ready if it has lately heard from its store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from privet.collection.server.http.events import Events

__all__ = ["Health"]

FRESH_SECONDS = 5.0


class Health:
    """The last that was heard from the store, which the collector looks into once a second.

    A request for the health never reaches the store, so anybody may ask as often as they like.

    Args:
        events: The log that is told when the store goes away or comes back.
        clock: The time in seconds.
    """

    def __init__(self, events: Events, clock: Callable[[], float] = time.monotonic) -> None:
        self._events, self._clock = events, clock
        self._heard = float("-inf")
        self._away = False

    @property
    def ready(self) -> bool:
        """True if the store answered the last time, and not long ago."""
        return not self._away and self._clock() - self._heard < FRESH_SECONDS

    @contextmanager
    def look(self) -> Iterator[None]:
        """Note whether the block, which asks the store, succeeds; what it raises is left to the caller."""
        try:
            yield
        except Exception as error:
            if not self._away:
                self._events("store away", error=type(error).__name__)
            self._away = True
            raise
        if self._away:
            self._events("store back")
        self._heard, self._away = self._clock(), False
