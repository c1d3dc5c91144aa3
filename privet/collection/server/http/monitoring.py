"""The log, health and metrics of a collector: one line an event, with counts and names of reasons.

No event has a place for a report, a token, a key or a network address. What libraries complain about is reduced to its
fixed words, the kind of the error and the line of code, because an error's own text may quote a request. A collector is
ready if its store answered lately; counts and times name nobody.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import time
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import PurePath
from typing import TextIO, TypeAlias

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

__all__ = ["Complaints", "Events", "Health", "Metrics", "Refusals", "Troubles"]

Fact: TypeAlias = str | int | Mapping[str, int]


class Events:
    """A log to which each event is one line.

    Args:
        out: Where lines go; None for nowhere.
        as_json: Write JSON objects for machines instead of text for people.
    """

    def __init__(self, out: TextIO | None = None, *, as_json: bool = True) -> None:
        self._out, self._as_json = out, as_json

    def __call__(self, event: str, **facts: Fact) -> None:
        """Write one event with its facts: names, counts, or counts by name."""
        if self._out is None:
            return
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        if self._as_json:
            line = json.dumps({"time": now, "event": event, **facts})
        else:
            line = " ".join([now, event, *(f"{name}={_text(fact)}" for name, fact in facts.items())])
        with contextlib.suppress(OSError, ValueError):  # a log that nobody reads any more must not stop the collector
            self._out.write(line + "\n")
            self._out.flush()


class Refusals:
    """Counts of refused requests by reason, logged once a minute.

    Args:
        events: The log.
        clock: The time in seconds.
    """

    def __init__(self, events: Events, clock: Callable[[], float] = time.monotonic) -> None:
        self._events, self._clock = events, clock
        self._counts: Tally[str] = Tally()
        self._told = clock()

    def add(self, reasons: Iterable[str]) -> None:
        """Count some refusals."""
        self._counts.update(reasons)

    def tell(self, *, now: bool = False) -> None:
        """Write the counts of the last minute, if it is over or ``now``, and there are any."""
        if now or self._clock() - self._told >= 60:
            if self._counts:
                self._events("refused", reasons=dict(sorted(self._counts.items())))
            self._counts.clear()
            self._told = self._clock()


class Troubles:
    """Failures of the store's database, once a minute each, without its own words, which may quote a report.

    A full disk can still be read, so a collector seems healthy while it can store nothing: the log has to say so.

    Args:
        events: The log.
        clock: The time in seconds.
    """

    def __init__(self, events: Events, clock: Callable[[], float] = time.monotonic) -> None:
        self._events, self._clock = events, clock
        self._told: dict[str, float] = {}

    def __call__(self, error: Exception) -> None:
        """Note that a request failed at the store."""
        words = str(error).lower()
        full = getattr(error, "errno", None) == errno.ENOSPC or any(known in words for known in _FULL)
        problem = "the disk is full" if full else type(error).__name__
        if self._clock() - self._told.get(problem, float("-inf")) >= 60:
            self._told[problem] = self._clock()
            self._events("store fails", problem=problem)


class Complaints(logging.Handler):
    """A handler that turns what libraries log into events without the values that they were about.

    The same complaint is written once a minute: anybody can make a server complain.

    Args:
        events: The log.
        clock: The time in seconds.
    """

    def __init__(self, events: Events, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(logging.WARNING)
        self._events, self._clock = events, clock
        self._told: dict[tuple[str, str, int], float] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Write the fixed words of a record, the kind of its error, and where it happened."""
        key = (record.name, record.pathname, record.lineno)
        if record.exc_info is None and self._clock() - self._told.get(key, float("-inf")) < 60:
            return
        self._told[key] = self._clock()
        facts = {"level": record.levelname.lower(), "logger": record.name}
        # Words into which a library put values itself cannot be told from fixed ones; only known loggers are quoted.
        if record.name == "uvicorn.error" and isinstance(record.msg, str) and not record.msg.startswith("Traceback"):
            facts["message"] = " ".join(record.msg.splitlines()[:1])
        place = f"{PurePath(record.pathname).name}:{record.lineno}"
        kind, _, trace = record.exc_info or (None, None, None)
        if kind is not None:
            facts["error"] = kind.__name__
            while trace is not None:
                code = trace.tb_frame.f_code
                place, trace = f"{PurePath(code.co_filename).name}:{trace.tb_lineno}", trace.tb_next
        self._events("complaint", **facts, place=place)


def _text(fact: Fact) -> str:
    if isinstance(fact, Mapping):
        return ",".join(f"{name}:{count}" for name, count in fact.items()).replace(" ", "-")
    return str(fact).replace(" ", "-")


_FULL = ("disk is full", "no space left")  # of SQLite, and of PostgreSQL and the operating system
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
