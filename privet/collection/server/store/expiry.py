"""Expiry: the reports of a round are deleted when its retention ends, and their number is kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from privet.collection.server.store.erasure import Erasures
from privet.collection.server.store.tables import CONFLICTS, EXPIRED, REPORTS, STUDIES, TRACES
from privet.collection.study.manifest import Study
from privet.collection.study.retention import deletion_time

__all__ = ["Expired", "Expiry"]


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
class Expiry:
    """The retention of a study in all its rounds, within one transaction.

    Attributes:
        erasures: The study's erasures, which know its rounds and their lock.
    """

    erasures: Erasures

    def expire(self, now: datetime, *, early: bool = False) -> int:
        """Delete the reports of every round whose time has come, and return their number.

        Args:
            now: The time.
            early: Delete those of the other rounds, too, and close them.
        """
        connection, deleted = self.erasures.connection, 0
        self.erasures.lock(alone=True)
        query = sa.select(STUDIES.c.number, STUDIES.c.manifest).where(STUDIES.c.number.in_(self.erasures.rounds()))
        for number, manifest in connection.execute(query.order_by(STUDIES.c.number)).all():
            moment = deletion_time(Study.from_bytes(bytes(manifest)))
            if early:
                closing = sa.update(STUDIES).where(STUDIES.c.number == number, STUDIES.c.closed.is_(None))
                connection.execute(closing.values(closed=int(now.timestamp())))
            if early or (moment is not None and moment <= now):
                deleted += self._delete(number, int(now.timestamp()) // 60 * 60)
        return deleted

    def _delete(self, number: int, minute: int) -> int:
        connection = self.erasures.connection
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
            connection.execute(sa.text(sql), counts)
            connection.execute(sa.insert(TRACES))
        return int(counts["reports"])

    def expired(self) -> Expired | None:
        """Return what was deleted so far; None if nothing was."""
        of_rounds = EXPIRED.c.study.in_(self.erasures.rounds())
        query = sa.select(sa.func.sum(EXPIRED.c.reports), sa.func.max(EXPIRED.c.minute)).where(of_rounds)
        reports, minute = self.erasures.connection.execute(query).one()
        return None if reports is None else Expired(int(reports), int(minute))
