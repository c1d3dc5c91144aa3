"""Counts and times of a collector in Prometheus' text form; they name nobody."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

__all__ = ["Metrics"]

_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)


class Metrics:
    """The figures of one collector since it started."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._reports = Counter("privet_reports", "Submitted reports.", ["outcome"], registry=self.registry)
        self._refused = Counter("privet_refused", "Refused requests and rows.", ["reason"], registry=self.registry)
        self._commits = Histogram(
            "privet_commit_seconds", "Times from a group of reports to its commit.", buckets=_SECONDS,
            registry=self.registry,
        )  # fmt: skip
        self._waiting = Gauge("privet_reports_waiting", "Reports that wait for a commit.", registry=self.registry)
        self._stored = Gauge("privet_reports_in_store", "Nodes that have reported.", registry=self.registry)

    def count(self, outcome: str, reports: int = 1) -> None:
        """Count reports by what became of them."""
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
