"""Health and metrics of a collector: it is ready if its store answered lately; counts and times name nobody."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from privet.collection.server.http.events import Events

__all__ = ["Health", "Metrics"]

FRESH_SECONDS = 5.0
_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)  # seconds


class Health:
    """The last answer of the store, which the collector asks once a second.

    A request for the health never reaches the store, so anybody may ask as often as they like.

    Args:
        events: The log, which gets an entry when the store goes away or comes back.
        clock: The time in seconds.
    """

    def __init__(self, events: Events, clock: Callable[[], float] = time.monotonic) -> None:
        self._events, self._clock = events, clock
        self._last_answer = float("-inf")
        self._away = False

    @property
    def ready(self) -> bool:
        """True if the store answered the last time, and not long ago."""
        return not self._away and self._clock() - self._last_answer < FRESH_SECONDS

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
        self._last_answer, self._away = self._clock(), False


class Metrics:
    """The figures of one collector since it started, in Prometheus' text form."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._reports = Counter("privet_reports", "Submitted reports.", ["outcome"], registry=self.registry)
        self._refused = Counter("privet_refused", "Refused requests and rows.", ["reason"], registry=self.registry)
        self._commits = Histogram(
            "privet_commit_seconds", "Times from a group of reports to its commit.", buckets=_BUCKETS,
            registry=self.registry,
        )  # fmt: skip
        self._waiting = Gauge("privet_reports_waiting", "Reports that wait for a commit.", registry=self.registry)
        self._stored = Gauge("privet_reports_in_store", "Nodes that have reported.", registry=self.registry)

    def count(self, outcome: str, reports: int = 1) -> None:
        """Count reports by their outcome."""
        self._reports.labels(outcome).inc(reports)

    def refuse(self, reasons: Iterable[str]) -> None:
        """Count refusals by reason."""
        for reason in reasons:
            self._reports.labels("refused").inc()
            self._refused.labels(reason).inc()

    def commit(self, seconds: float) -> None:
        """Note how long the validation and commit of a group took."""
        self._commits.observe(seconds)

    def text(self, *, waiting: int, stored: int) -> bytes:
        """Return all figures.

        Args:
            waiting: Reports that wait for a commit.
            stored: Nodes that have reported.
        """
        self._waiting.set(waiting)
        self._stored.set(stored)
        return bytes(generate_latest(self.registry))
