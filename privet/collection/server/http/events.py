"""A log of a collector's life: one line an event, with counts and names of reasons.

No event has a place for a report, a token, a key or a network address. What libraries complain about is reduced to its
fixed words, the kind of the error and the line of code, because an error's own text may quote a request.
"""

from __future__ import annotations

import contextlib
import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import PurePath
from typing import TextIO, TypeAlias

__all__ = ["Complaints", "Events", "Refusals"]

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
        self._counts: Counter[str] = Counter()
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


class Complaints(logging.Handler):
    """A handler that turns what libraries log into events without the values that they were about.

    Args:
        events: The log.
    """

    def __init__(self, events: Events) -> None:
        super().__init__(logging.WARNING)
        self._events = events

    def emit(self, record: logging.LogRecord) -> None:
        """Write the fixed words of a record, the kind of its error, and where it happened."""
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
