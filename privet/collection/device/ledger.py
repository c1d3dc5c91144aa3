"""A device's memory: what its owner was shown, every report it ever made, and what they cost together.

A small SQLite file. A report is written here, with its cost, before it is sent anywhere, and in one transaction with
the check against the owner's limit: a crash at any point loses nothing and spends nothing twice.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import platformdirs

from privet.collection.device.charges import Charge, Entry, NoRefund, OtherNode, OverLimit, Refund, Withdrawal, charge
from privet.collection.study.chain import Chain
from privet.collection.study.manifest import DEFAULT_LIMIT, Study
from privet.errors import InvalidData, InvalidParameter, one_line
from privet.privacy.guarantee import sum_up

__all__ = [
    "LIFETIME_DELTA",
    "Entry",
    "Ledger",
    "NoRefund",
    "OtherNode",
    "OverLimit",
    "Refund",
    "Withdrawal",
    "default_path",
]

LIFETIME_DELTA = 1e-3
_TABLES = """
CREATE TABLE IF NOT EXISTS shown (
    study TEXT PRIMARY KEY, manifest BLOB NOT NULL, at INTEGER NOT NULL, shows INTEGER NOT NULL CHECK (shows IN (0, 1))
);
CREATE TABLE IF NOT EXISTS reports (
    study TEXT PRIMARY KEY, chain TEXT NOT NULL, node INTEGER NOT NULL, title TEXT NOT NULL,
    shows INTEGER NOT NULL CHECK (shows IN (0, 1)),
    cost REAL NOT NULL CHECK (typeof(cost) = 'real' AND cost >= 0 AND cost < 1e300),
    delta REAL NOT NULL CHECK (typeof(delta) = 'real' AND delta BETWEEN 0 AND 1),
    body BLOB NOT NULL, made INTEGER NOT NULL, tried INTEGER, sent INTEGER
);
CREATE TABLE IF NOT EXISTS refunds (
    study TEXT NOT NULL, title TEXT NOT NULL, cost REAL NOT NULL, reason TEXT NOT NULL, at INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS withdrawals (chain TEXT PRIMARY KEY, at INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS owner (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    most REAL NOT NULL CHECK (typeof(most) = 'real' AND most >= 0 AND most < 1e300)
);
"""


def default_path() -> Path:
    """Return the place of a ledger whose owner names none."""
    return Path(platformdirs.user_data_dir("privet", appauthor=False)) / "ledger.sqlite"


class Ledger:
    """The lifetime budget of one owner. Several processes may use it at once: each reserves under a lock.

    Args:
        path: The SQLite file, which is made if it is not there; ":memory:" for one that is forgotten.
    """

    def __init__(self, path: str | Path) -> None:
        self._name = Path(path).name
        if str(path) != ":memory:":
            try:
                Path(path).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                Path(path).touch(mode=0o600)
                Path(path).chmod(0o600)
            except OSError as error:
                raise InvalidParameter(f"The ledger {path} cannot be written: {error.strerror}.") from None
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
            raise InvalidParameter("limit", "a finite number of at least 0", value)
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
        """Return every report, oldest first."""
        columns = "study, node, title, cost, delta, made, tried, sent, reports.chain, shows, at"
        joined = "reports LEFT JOIN withdrawals ON withdrawals.chain = reports.chain"
        rows = self._rows(f"SELECT {columns} FROM {joined} ORDER BY made, reports.rowid")
        return [
            Entry(
                *(study, node, title, _amount(cost, self._name), _amount(delta, self._name)),
                *(made, tried, sent, chain, bool(shows), withdrawn),
            )
            for study, node, title, cost, delta, made, tried, sent, chain, shows, withdrawn in rows
        ]

    def refunds(self) -> list[Refund]:
        """Return what was given back, oldest first."""
        rows = self._rows("SELECT study, title, cost, reason, at FROM refunds ORDER BY at, rowid")
        return [Refund(*row) for row in rows]

    def show(self, study: Study, *, shows: bool = False) -> None:
        """Remember that the owner saw this manifest and agreed to it.

        Args:
            shows: True if the owner also agreed to show answers as they are, as a member of its panel.
        """
        row = (study.id, study.canonical(), int(time.time()), shows)
        again = "ON CONFLICT (study) DO UPDATE SET shows = max(shows, excluded.shows)"
        self._rows(f"INSERT INTO shown VALUES (?, ?, ?, ?) {again}", *row)

    def agreed_to_show(self, study_id: str) -> bool:
        """Tell whether the owner agreed to show answers as they are in a study."""
        return self._rows("SELECT shows FROM shown WHERE study = ?", study_id) == [(1,)]

    def was_shown(self, study_id: str) -> bool:
        """Tell whether the owner saw a study and agreed to it."""
        return bool(self._rows("SELECT 1 FROM shown WHERE study = ?", study_id))

    def shown(self) -> list[Study]:
        """Return the manifests that the owner agreed to, newest first."""
        rows = self._rows("SELECT manifest FROM shown ORDER BY at DESC, rowid DESC")
        return [Study.from_bytes(manifest) for (manifest,) in rows]

    def report(self, study: Study, node: int) -> bytes | None:
        """Return the report that was made for a study, if one was; it is an error if that was as another node."""
        found = self._rows("SELECT node, body FROM reports WHERE study = ?", study.id)
        if not found:
            return None
        if found[0][0] != node:
            raise OtherNode(found[0][0], node)
        return bytes(found[0][1])

    def shows(self, study_id: str) -> bool:
        """Tell whether the report that was made for a study is the owner's answers as they are."""
        return self._rows("SELECT shows FROM reports WHERE study = ?", study_id) == [(1,)]

    def charge(self, chain: Chain, *, shows: bool = False) -> Charge:
        """Return what answering the newest round of a study costs this owner.

        It is the price of all answers to the study's rounds together, less what was charged for earlier ones.

        Args:
            chain: The rounds of the study.
            shows: True if the owner shows answers as they are, which no budget counts.
        """
        return charge(chain, self.entries(), shows=shows)

    def reserve(self, chain: Chain, node: int, make: Callable[[], bytes], *, shows: bool = False) -> bytes:
        """Return the newest round's report: the stored one, or a new one that is stored together with its cost.

        Args:
            chain: The rounds of the study that is answered.
            node: The number that its owner answers as.
            make: Makes the report. It runs at most once in the life of this ledger for a round, and not at all above
                the limit.
            shows: True if the report is the answers as they are.
        """
        study = chain.newest
        with self._alone():
            known = self.report(study, node)
            if known is not None:
                return known
            due = self.charge(chain, shows=shows)
            others = (entry.node for entry in self.entries() if entry.chain == study.chain and entry.node != node)
            if (other := next(others, None)) is not None:
                raise OtherNode(other, node)
            self._check(due.epsilon, due.delta)
            body = make()
            row = (study.id, study.chain, node, study.title, shows, due.epsilon, due.delta, body, int(time.time()))
            self._rows("INSERT INTO reports VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)", *row)
            return body

    def sending(self, study_id: str, body: bytes) -> None:
        """Remember that this report leaves the device now; one that was refunded or replaced must not leave."""
        with self._alone():
            if self._rows("SELECT 1 FROM reports WHERE study = ? AND body = ?", study_id, body) == []:
                raise InvalidData(
                    "The ledger holds no such report for this study, so nothing was sent. Make the report again."
                )
            self._rows("UPDATE reports SET tried = ? WHERE study = ? AND tried IS NULL", int(time.time()), study_id)

    def acknowledge(self, study_id: str) -> None:
        """Remember that the collector has the report."""
        self._rows("UPDATE reports SET sent = ? WHERE study = ?", int(time.time()), study_id)

    def refund(self, study_id: str, reason: str) -> float:
        """Destroy a report that never left the device, and give its cost back.

        If other rounds of the same study were answered, nothing comes back: their answers were charged less because of
        this one, so they take over its cost.

        Args:
            study_id: The study that it was made for.
            reason: Why it is destroyed; kept in the ledger.

        Returns:
            The epsilon that was given back.
        """
        with self._alone():
            entries = self.entries()
            found = next((entry for entry in entries if entry.study == study_id), None)
            if found is None:
                raise NoRefund("There is nothing to refund: this device made no report for the study.")
            if found.tried is not None:
                raise NoRefund("The report was sent before, so somebody may have seen it. Its cost stays.")
            rest = [each for each in entries if each.chain == found.chain and each != found and not each.shows]
            if rest:
                sums = (sum_up([rest[-1].cost, found.cost]), sum_up([rest[-1].delta, found.delta]))
                self._rows("UPDATE reports SET cost = ?, delta = ? WHERE study = ?", *sums, rest[-1].study)
            returned = 0.0 if rest else found.cost
            self._destroy(study_id, found.title, returned, reason)
            return returned

    def withdraw(self, study: Study) -> Withdrawal:
        """Remember that the owner withdrew from a study, whose reports were erased where they had been sent.

        Reports are refunded if none of the study left the device: the price of a later round counts on that of an
        earlier one, so that no part of it can be given back alone.

        Args:
            study: The study, or one of its rounds.
        """
        with self._alone():
            made = [entry for entry in self.entries() if entry.chain == study.chain]
            if study.earlier and study.id not in {entry.study for entry in made}:
                # Anybody can write a manifest that names another study as its first round.
                raise InvalidData(
                    "This device did not answer this round, so it cannot withdraw from it. Use the link of the first "
                    "round, or of one that it answered."
                )
            self._rows("INSERT OR IGNORE INTO withdrawals VALUES (?, ?)", study.chain, int(time.time()))
            price = sum_up([entry.cost for entry in made])
            if any(entry.tried is not None for entry in made):
                return Withdrawal(price, 0.0)
            for entry in made:
                self._destroy(entry.study, entry.title, entry.cost, "You withdrew before the report was sent.")
            return Withdrawal(0.0, price)

    def withdrew(self, study: Study) -> bool:
        """Tell whether the owner withdrew from a study."""
        return bool(self._rows("SELECT 1 FROM withdrawals WHERE chain = ?", study.chain))

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def _destroy(self, study_id: str, title: str, cost: float, reason: str) -> None:
        self._rows("DELETE FROM reports WHERE study = ?", study_id)
        self._rows("INSERT INTO refunds VALUES (?, ?, ?, ?, ?)", study_id, title, cost, reason, int(time.time()))

    def _check(self, cost: float, delta: float) -> None:
        entries = self.entries()
        if sum((Fraction(entry.cost) for entry in entries), Fraction(cost)) > Fraction(self.limit):
            raise OverLimit("an epsilon of", cost, self.spent, self.limit)
        if sum((Fraction(entry.delta) for entry in entries), Fraction(delta)) > Fraction(LIFETIME_DELTA):
            raise OverLimit("a delta of", delta, self.spent_delta, LIFETIME_DELTA)

    def _rows(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        with self._told():
            return self._database.execute(sql, parameters).fetchall()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn SQLite's errors into one sentence."""
        try:
            yield
        except sqlite3.Error as error:
            raise InvalidData(f"The ledger {self._name} is no usable SQLite file: {one_line(str(error))}.") from None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._rows("BEGIN IMMEDIATE")
        try:
            yield
            self._rows("COMMIT")  # one that fails must not stay open: its rows would look stored, and be lost
        except BaseException:
            if self._database.in_transaction:
                self._rows("ROLLBACK")
            raise


def _amount(value: object, name: str) -> float:
    """Check a budget of the file, which somebody may have changed."""
    if isinstance(value, float) and 0 <= value < 1e300:
        return value
    raise InvalidData(f"The ledger {name} holds a budget that is no finite number of at least 0. Restore a copy.")
