"""A device's memory: what its owner was shown, every report it ever made, and what they cost together.

A small SQLite file. A report is written here, with its cost, before it is sent anywhere, and in one transaction with
the check against the owner's limit: a crash at any point loses nothing and spends nothing twice.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from privet.collection.study import Study
from privet.errors import InvalidData, InvalidParameter, PrivetError
from privet.privacy.guarantee import sum_up

__all__ = ["DEFAULT_LIMIT", "LIFETIME_DELTA", "Entry", "Ledger", "OtherNode", "OverLimit", "default_path"]

DEFAULT_LIMIT = 10.0
LIFETIME_DELTA = 1e-3
_TABLES = """
CREATE TABLE IF NOT EXISTS shown (study TEXT PRIMARY KEY, manifest BLOB NOT NULL, at INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS reports (
    study TEXT PRIMARY KEY, node INTEGER NOT NULL, title TEXT NOT NULL,
    cost REAL NOT NULL CHECK (typeof(cost) = 'real' AND cost > 0 AND cost < 1e300),
    delta REAL NOT NULL CHECK (typeof(delta) = 'real' AND delta BETWEEN 0 AND 1),
    body BLOB NOT NULL, made INTEGER NOT NULL, sent INTEGER
);
CREATE TABLE IF NOT EXISTS owner (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    most REAL NOT NULL CHECK (typeof(most) = 'real' AND most >= 0 AND most < 1e300)
);
"""


class OverLimit(PrivetError):
    """A study that would cost more than the owner allows in a lifetime."""

    def __init__(self, what: str, cost: float, spent: float, limit: float) -> None:
        left = f"at most {max(0.0, limit - spent):g}, which is left of the lifetime limit {limit:g}"
        super().__init__(f"The study's {what} must be {left}. Got {cost:g} instead.")


class OtherNode(PrivetError):
    """A study that this device has answered as another node."""

    def __init__(self, before: int, now: int) -> None:
        super().__init__(f"The study must be answered as node {before}, as it was before. Got node {now} instead.")
        self.before = before


@dataclass(frozen=True)
class Entry:
    """A report that this device made."""

    study: str
    node: int
    title: str
    cost: float
    delta: float
    made: int
    sent: int | None


def default_path() -> Path:
    """Where a ledger is kept unless its owner says otherwise."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "privet" / "ledger.sqlite"


class Ledger:
    """The lifetime budget of one owner. Several processes may use it at once: each reserves under a lock."""

    def __init__(self, path: str | Path) -> None:
        self._name = Path(path).name
        if str(path) != ":memory:":
            try:
                Path(path).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                Path(path).touch(mode=0o600)
                Path(path).chmod(0o600)
            except OSError as error:
                found = f"{path} ({error.strerror})"
                raise InvalidParameter("ledger", "this device", "a file that can be written", found) from None
        with self._told():
            self._database = sqlite3.connect(path, timeout=30, isolation_level=None)
            # EXTRA also writes the directory to disk: a commit that a power cut could undo would be made twice.
            self._database.execute("PRAGMA synchronous=EXTRA")
            self._database.executescript(_TABLES)

    @property
    def limit(self) -> float:
        """The most epsilon that the owner gives away in a lifetime, over all studies."""
        found = self._rows("SELECT most FROM owner")
        return _amount(found[0][0], self._name) if found else DEFAULT_LIMIT

    @limit.setter
    def limit(self, value: float) -> None:
        if not 0 <= value < 1e300:
            raise InvalidParameter("limit", "the ledger", "a finite number of at least 0", value)
        self._rows("INSERT OR REPLACE INTO owner VALUES (1, ?)", float(value))

    @property
    def spent(self) -> float:
        """The sum of what every report cost, sent or not; rounded up where it is not exact."""
        return sum_up([entry.cost for entry in self.entries()])

    @property
    def spent_delta(self) -> float:
        """The sum of the reports' deltas."""
        return sum_up([entry.delta for entry in self.entries()])

    def entries(self) -> list[Entry]:
        """Every report, oldest first."""
        rows = self._rows("SELECT study, node, title, cost, delta, made, sent FROM reports ORDER BY made, study")
        return [
            Entry(study, node, title, _amount(cost, self._name), _amount(delta, self._name), made, sent)
            for study, node, title, cost, delta, made, sent in rows
        ]

    def show(self, study: Study) -> None:
        """Remember that the owner saw this manifest and agreed to it."""
        self._rows("INSERT OR IGNORE INTO shown VALUES (?, ?, ?)", study.id, study.canonical(), int(time.time()))

    def was_shown(self, study_id: str) -> bool:
        """Whether the owner saw a study and agreed to it."""
        return bool(self._rows("SELECT 1 FROM shown WHERE study = ?", study_id))

    def shown(self) -> list[Study]:
        """The manifests that the owner agreed to, newest first."""
        rows = self._rows("SELECT manifest FROM shown ORDER BY at DESC, rowid DESC")
        return [Study.from_bytes(manifest) for (manifest,) in rows]

    def report(self, study: Study, node: int) -> bytes | None:
        """The report that was made for a study, if one was; it is an error if that was as another node."""
        found = self._rows("SELECT node, body FROM reports WHERE study = ?", study.id)
        if not found:
            return None
        if found[0][0] != node:
            raise OtherNode(found[0][0], node)
        return bytes(found[0][1])

    def reserve(self, study: Study, node: int, make: Callable[[], bytes]) -> bytes:
        """The study's report: the stored one, or a new one that is stored together with its cost.

        ``make`` runs at most once in the life of this ledger for a study, and not at all above the limit.
        """
        with self._alone():
            known = self.report(study, node)
            if known is not None:
                return known
            self._check(study)
            body = make()
            row = (study.id, node, study.title, study.cost, float(study.guarantee().delta), body, int(time.time()))
            self._rows("INSERT INTO reports VALUES (?, ?, ?, ?, ?, ?, ?, NULL)", *row)
            return body

    def acknowledge(self, study_id: str) -> None:
        """Remember that the collector has the report."""
        self._rows("UPDATE reports SET sent = ? WHERE study = ?", int(time.time()), study_id)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def _check(self, study: Study) -> None:
        entries = self.entries()
        if sum((Fraction(entry.cost) for entry in entries), Fraction(study.cost)) > Fraction(self.limit):
            raise OverLimit("epsilon", study.cost, self.spent, self.limit)
        delta = study.guarantee().delta
        if sum((Fraction(entry.delta) for entry in entries), Fraction(delta)) > Fraction(LIFETIME_DELTA):
            raise OverLimit("delta", delta, self.spent_delta, LIFETIME_DELTA)

    def _rows(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        with self._told():
            return self._database.execute(sql, parameters).fetchall()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What SQLite has to say, in one sentence."""
        try:
            yield
        except sqlite3.Error as error:
            raise InvalidData(f"ledger {self._name}", "a SQLite file that can be written", str(error)) from None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._rows("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._rows("ROLLBACK")
            raise
        self._rows("COMMIT")


def _amount(value: object, name: str) -> float:
    """A budget of the file, which somebody may have changed."""
    if isinstance(value, float) and 0 <= value < 1e300:
        return value
    raise InvalidData(f"ledger {name}", "one with finite budgets of at least 0", value)
