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

from privet.collection.study import Study
from privet.errors import InvalidData, InvalidParameter, PrivetError

__all__ = ["DEFAULT_LIMIT", "Entry", "Ledger", "OverLimit", "default_path"]

DEFAULT_LIMIT = 10.0
_TABLES = """
CREATE TABLE IF NOT EXISTS shown (study TEXT PRIMARY KEY, manifest BLOB NOT NULL, at INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS reports (
    study TEXT PRIMARY KEY, node INTEGER NOT NULL, title TEXT NOT NULL, cost REAL NOT NULL, delta REAL NOT NULL,
    body BLOB NOT NULL, made INTEGER NOT NULL, sent INTEGER
);
CREATE TABLE IF NOT EXISTS owner (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), most REAL NOT NULL);
"""


class OverLimit(PrivetError):
    """A study that would cost more than the owner allows in a lifetime."""

    def __init__(self, cost: float, spent: float, limit: float) -> None:
        left = max(0.0, limit - spent)
        super().__init__(
            f"The study's epsilon must be at most {left:g}, which is left of the limit {limit:g}. Got {cost:g} instead."
        )


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
        if str(path) != ":memory:":
            Path(path).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            Path(path).touch(mode=0o600)
        try:
            self._database = sqlite3.connect(path, timeout=30, isolation_level=None)
            self._database.execute("PRAGMA synchronous=FULL")
            self._database.executescript(_TABLES)
        except sqlite3.Error as error:
            raise InvalidData(f"ledger {Path(path).name}", "a SQLite file that can be written", str(error)) from None

    @property
    def limit(self) -> float:
        """The most epsilon that the owner gives away in a lifetime, over all studies."""
        found = self._database.execute("SELECT most FROM owner").fetchone()
        return DEFAULT_LIMIT if found is None else float(found[0])

    @limit.setter
    def limit(self, value: float) -> None:
        if not 0 <= value < float("inf"):
            raise InvalidParameter("limit", "the ledger", "a finite number of at least 0", value)
        self._database.execute("INSERT OR REPLACE INTO owner VALUES (1, ?)", (float(value),))

    @property
    def spent(self) -> float:
        """The sum of what every report cost, sent or not."""
        return float(sum((Fraction(entry.cost) for entry in self.entries()), Fraction(0)))

    def entries(self) -> list[Entry]:
        """Every report, oldest first."""
        query = "SELECT study, node, title, cost, delta, made, sent FROM reports ORDER BY made, study"
        return [Entry(*row) for row in self._database.execute(query)]

    def show(self, study: Study) -> None:
        """Remember that the owner saw this manifest and agreed to it."""
        row = (study.id, study.canonical(), int(time.time()))
        self._database.execute("INSERT OR IGNORE INTO shown VALUES (?, ?, ?)", row)

    def was_shown(self, study_id: str) -> bool:
        """Whether the owner saw a study and agreed to it."""
        return self._database.execute("SELECT 1 FROM shown WHERE study = ?", (study_id,)).fetchone() is not None

    def shown(self) -> list[Study]:
        """The manifests that the owner agreed to, newest first."""
        query = "SELECT manifest FROM shown ORDER BY at DESC, rowid DESC"
        return [Study.from_bytes(manifest) for (manifest,) in self._database.execute(query)]

    def report(self, study_id: str) -> bytes | None:
        """The report that was made for a study, if one was."""
        found = self._database.execute("SELECT body FROM reports WHERE study = ?", (study_id,)).fetchone()
        return None if found is None else bytes(found[0])

    def node(self, study_id: str) -> int | None:
        """Whom the study's report was made for, if one was made."""
        found = self._database.execute("SELECT node FROM reports WHERE study = ?", (study_id,)).fetchone()
        return None if found is None else int(found[0])

    def reserve(self, study: Study, node: int, make: Callable[[], bytes]) -> bytes:
        """The study's report: the stored one, or a new one that is stored together with its cost.

        ``make`` runs at most once in the life of this ledger for a study, and not at all above the limit.
        """
        with self._alone() as database:
            known = self.report(study.id)
            if known is not None:
                return known
            if Fraction(self.spent) + Fraction(study.cost) > Fraction(self.limit):
                raise OverLimit(study.cost, self.spent, self.limit)
            body = make()
            row = (study.id, node, study.title, study.cost, study.guarantee().delta, body, int(time.time()))
            database.execute("INSERT INTO reports VALUES (?, ?, ?, ?, ?, ?, ?, NULL)", row)
            return body

    def acknowledge(self, study_id: str) -> None:
        """Remember that the collector has the report."""
        self._database.execute("UPDATE reports SET sent = ? WHERE study = ?", (int(time.time()), study_id))

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    @contextmanager
    def _alone(self) -> Iterator[sqlite3.Connection]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield self._database
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")
