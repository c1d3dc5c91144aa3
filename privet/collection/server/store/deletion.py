"""Deletion of reports: a person's on demand, with a tombstone that keeps them out, and a round's after its retention.

A report and an erasure cannot pass each other unseen. Whoever inserts holds the study's lock together with others,
whoever erases holds it alone (:meth:`StudyRows.lock`): either the report is there when it is erased, or the tombstone
is there when the report is inserted. On SQLite, a transaction that writes is alone.

Retention is decided by the clock, and a clock can be wrong. A collector deletes only by one that has run on for hours
(:mod:`privet.collection.server.store.clock`), and only rounds that it saw end or whose operator closed them; others
wait until their operator confirms.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import sqlalchemy as sa

from privet.collection.server.store.clock import Clock
from privet.collection.server.store.database import (
    CONFLICTS,
    ENDED,
    ERASED,
    EXPIRED,
    REPORTS,
    STUDIES,
    TRACES,
    StudyRows,
)
from privet.collection.study.manifest import Study

__all__ = ["Eraser", "Erasure", "Erasures", "Expired", "Expiry", "Retention", "remove_traces"]

Eraser = Literal["participant", "operator"]
_FEW = 900  # SQLite's smallest limit on the parameters of a statement is 999


@dataclass(frozen=True)
class Erasure:
    """A tombstone: somebody's reports were erased.

    Attributes:
        node: The person.
        minute: The minute of the erasure, in seconds since 1970.
        by: "participant" for a withdrawal, "operator" for an erasure by the operator.
    """

    node: int
    minute: int
    by: Eraser


class Erasures(StudyRows):
    """The erasures of a study."""

    def among(self, nodes: Sequence[int]) -> set[int]:
        """Return those of the people whose reports were erased."""
        if not self.count():  # almost always, and cheaper than to ask for each
            return set()
        found: set[int] = set()
        for start in range(0, len(nodes), _FEW):
            some = ERASED.c.node.in_(nodes[start : start + _FEW])
            found.update(self.connection.execute(sa.select(ERASED.c.node).where(self._own, some)).scalars())
        return found

    def erase(self, node: int, minute: int, by: Eraser) -> bool:
        """Delete all that somebody reported, and leave a tombstone; False if that was done before."""
        self.lock(alone=True)
        if self.among([node]):
            return False
        self.connection.execute(sa.insert(ERASED).values(chain=self.chain, node=node, minute=minute, by=by))
        for table in (REPORTS, CONFLICTS):
            self.connection.execute(sa.delete(table).where(table.c.study.in_(self.rounds()), table.c.node == node))
        self.connection.execute(sa.insert(TRACES))
        return True

    def add_nameless(self, erasures: Sequence[Erasure]) -> None:
        """Keep how many people were erased, when and by whom, but not who: numbers below 0 stand for them."""
        rows = [
            {"chain": self.chain, "node": -1 - place, "minute": each.minute, "by": each.by}
            for place, each in enumerate(erasures)
        ]
        if rows:
            self.connection.execute(sa.insert(ERASED), rows)

    def count(self) -> int:
        """Count the people whose reports were erased."""
        return int(self.connection.execute(sa.select(sa.func.count()).where(self._own)).scalar_one())

    def entries(self) -> list[Erasure]:
        """Return the tombstones, oldest first."""
        query = sa.select(ERASED.c.node, ERASED.c.minute, ERASED.c.by).where(self._own)
        rows = self.connection.execute(query.order_by(ERASED.c.minute, ERASED.c.node))
        return [Erasure(int(node), int(minute), by) for node, minute, by in rows]

    @property
    def _own(self) -> sa.ColumnElement[bool]:
        return ERASED.c.chain == self.chain


@dataclass(frozen=True)
class Expired:
    """Reports that were deleted when their retention ended.

    Attributes:
        reports: Their number.
        minute: The minute of the last deletion, in seconds since 1970.
    """

    reports: int
    minute: int


@dataclass(frozen=True)
class Retention:
    """The outcome of one look for reports whose retention has ended.

    Attributes:
        deleted: The reports that were deleted.
        clock: The reports that wait until the clock has run on for long enough.
        unconfirmed: The reports that wait for their operator, because nobody saw their round end.
    """

    deleted: int = 0
    clock: int = 0
    unconfirmed: int = 0


class Expiry(StudyRows):
    """The retention of a study."""

    def expire(self, now: datetime, *, early: bool = False) -> int:
        """Delete the reports of every round whose time has come, and return their number; the operator wants it.

        Args:
            early: Delete those of the other rounds, too, and close them.
        """
        connection, deleted = self.connection, 0
        self.lock(alone=True)
        for number, study, _ in self._each():
            if early:
                closing = sa.update(STUDIES).where(STUDIES.c.number == number, STUDIES.c.closed.is_(None))
                connection.execute(closing.values(closed=int(now.timestamp())))
            if early or _is_due(study, now):
                deleted += self._delete(number, int(now.timestamp()) // 60 * 60)
        return deleted

    def look(self, now: datetime) -> Retention:
        """Note the time, and delete what is due as far as the clock can be believed; nobody is asked."""
        reading = Clock(self.connection, self.chain).look(int(now.timestamp()))
        deleted = clock = unconfirmed = 0
        rounds = self._each()
        for number, study, _ in rounds:
            if reading.ran_through(study.closes.timestamp()):
                self._execute("INSERT INTO ended (study) VALUES (:study) ON CONFLICT DO NOTHING", study=number)
        due = [(number, closed) for number, study, closed in rounds if _is_due(study, now)]
        if not due:
            return Retention()
        self.lock(alone=True)
        for number, closed in due:
            if not reading.is_believed:
                clock += self._count(number)
            elif not closed and not self._has_ended(number):
                unconfirmed += self._count(number)
            else:
                deleted += self._delete(number, reading.now // 60 * 60)
        return Retention(deleted, clock, unconfirmed)

    def due(self, now: datetime) -> int:
        """Count the reports whose retention has ended by this time."""
        return sum(self._count(number) for number, study, _ in self._each() if _is_due(study, now))

    def _each(self) -> list[tuple[int, Study, bool]]:
        """Return the number and the manifest of each round, oldest first, and whether the operator closed it."""
        query = sa.select(STUDIES.c.number, STUDIES.c.manifest, STUDIES.c.closed)
        rows = self.connection.execute(query.where(STUDIES.c.chain == self.chain).order_by(STUDIES.c.number)).all()
        return [
            (int(number), Study.from_bytes(bytes(manifest)), closed is not None) for number, manifest, closed in rows
        ]

    def _has_ended(self, number: int) -> bool:
        query = sa.select(sa.func.count()).where(ENDED.c.study == number)
        return bool(self.connection.execute(query).scalar_one())

    def _count(self, number: int) -> int:
        query = sa.select(sa.func.count()).where(REPORTS.c.study == number)
        return int(self.connection.execute(query).scalar_one())

    def _execute(self, sql: str, **values: int) -> None:
        self.connection.execute(sa.text(sql), values)

    def _delete(self, number: int, minute: int) -> int:
        connection = self.connection
        refused = sa.select(sa.func.coalesce(sa.func.sum(CONFLICTS.c.count), 0)).where(CONFLICTS.c.study == number)
        counts = {
            "study": number,
            "minute": minute,
            "conflicts": connection.execute(refused).scalar_one(),
            "reports": connection.execute(sa.delete(REPORTS).where(REPORTS.c.study == number)).rowcount,
        }
        connection.execute(sa.delete(CONFLICTS).where(CONFLICTS.c.study == number))
        if counts["reports"] or counts["conflicts"]:
            sql = (
                "INSERT INTO expired (study, minute, reports, conflicts) "
                "VALUES (:study, :minute, :reports, :conflicts) ON CONFLICT (study) DO UPDATE SET "
                "minute = excluded.minute, reports = expired.reports + excluded.reports, "
                "conflicts = expired.conflicts + excluded.conflicts"
            )
            self._execute(sql, **counts)
            connection.execute(sa.insert(TRACES))
        return int(counts["reports"])

    def expired(self) -> Expired | None:
        """Return what was deleted so far; None if nothing was."""
        of_rounds = EXPIRED.c.study.in_(self.rounds())
        query = sa.select(sa.func.sum(EXPIRED.c.reports), sa.func.max(EXPIRED.c.minute)).where(of_rounds)
        reports, minute = self.connection.execute(query).one()
        return None if reports is None else Expired(int(reports), int(minute))


def _is_due(study: Study, now: datetime) -> bool:
    return study.deletion_time is not None and study.deletion_time <= now


def remove_traces(engine: sa.Engine) -> bool:
    """Remove what deletions left in free space of the database's files; False if a reader is in the way.

    SQLite overwrites what it deletes (``secure_delete``), but a page that was split before may hold a second copy in
    its free space, and the log holds the page as it was: only writing the file anew (VACUUM) and emptying the log
    ends both.
    PostgreSQL makes the space free for others; docs/how-to/data-protection.md says what remains until it is used.
    """
    with engine.connect() as connection:
        last = connection.execute(sa.select(sa.func.max(TRACES.c.number))).scalar()
    if last is None:
        return True
    if not (_vacuumed if engine.dialect.name == "postgresql" else _rewritten)(engine):
        return False
    with engine.execution_options(write=True).begin() as connection:
        connection.execute(sa.delete(TRACES).where(TRACES.c.number <= last))
    return True


def _vacuumed(engine: sa.Engine) -> bool:
    """Make the space of deleted rows in PostgreSQL free; False if some of them stay.

    Rows that an open transaction could still read stay, such as those of an export under way, and so do all where the
    user does not own the tables, who is warned.
    """
    names = [table.name for table in (REPORTS, CONFLICTS)]
    dead = "SELECT sum(n_dead_tup) FROM pg_stat_user_tables WHERE relid = ANY (%s::regclass[])"
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for name in names:
            connection.exec_driver_sql(f"VACUUM {name}")
        return not connection.exec_driver_sql(dead, (names,)).scalar()


def _rewritten(engine: sa.Engine) -> bool:
    """Write a SQLite file anew and empty its log."""
    with contextlib.closing(engine.raw_connection()) as pooled:
        driver = pooled.driver_connection
        assert driver is not None
        driver.execute("VACUUM")
        busy, _, _ = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy
