"""A study's reports in a database: SQLite in WAL mode by default, PostgreSQL by URL.

A report is acknowledged only after the transaction that holds it is on disk, and a node has one report for ever: the
primary key (study, node) is what makes submission idempotent, whatever crashes in between.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from privet.collection.server.store.database import (
    CONFLICTS,
    MODELS,
    REJECTIONS,
    REPORTS,
    REVOKED,
    STUDIES,
    StoreFailure,
    StudyRows,
    engine_for,
)
from privet.collection.server.store.deletion import Eraser, Erasure, Erasures, Expired, Expiry, Retention, remove_traces
from privet.collection.server.store.insertion import Insertion, Outcome
from privet.collection.server.store.leases import Leases
from privet.collection.server.store.public_store import PublicStore
from privet.collection.study.forms import OpenData
from privet.collection.study.manifest import Study
from privet.errors import PrivetError
from privet.release import Answers

__all__ = ["Outcome", "Store", "StoreFailure", "StudyClosed", "engine_for"]


class StudyClosed(PrivetError):
    """The operator closed the study before these reports were stored."""


class Store(PublicStore):
    """The reports of one study. Safe to use from several threads and, with PostgreSQL, from several processes.

    Args:
        study: The study; a database may hold several.
    """

    @classmethod
    def open(cls, place: str | Path, study: Study) -> Store:
        """Open the store in a file or at a URL; it is made if it is not there."""
        return cls(engine_for(place), study)

    def insert(self, nodes: Sequence[int], bodies: Sequence[bytes], now: float | None = None) -> list[Outcome]:
        """Store reports in one transaction. A node that has one keeps it; a different one is recorded and refused."""
        if not nodes:
            return []
        minute = int((time.time() if now is None else now) // 60 * 60)
        with self._connection(write=True) as connection:
            erasures = Erasures(connection, self.study.chain)
            erasures.lock(alone=False)
            if self._is_closed(connection):
                raise StudyClosed
            insertion, gone = Insertion(connection, self._number, minute), erasures.among(nodes)
            if not gone:
                return insertion.of(nodes, bodies)
            kept = [(node, body) for node, body in zip(nodes, bodies, strict=True) if node not in gone]
            outcomes = iter(insertion.of([node for node, _ in kept], [body for _, body in kept]))
            return [Outcome.ERASED if node in gone else next(outcomes) for node in nodes]

    def get(self, node: int) -> bytes | None:
        """Return the stored body of a node; None if there is none."""
        return self.bodies([node]).get(node)

    def bodies(self, nodes: Sequence[int]) -> dict[int, bytes]:
        """Return the stored bodies of those of the nodes that have reported."""
        with self._connection() as connection:
            return Insertion(connection, self._number, 0).stored(nodes)

    def answers(self) -> Answers:
        """Return everything that was reported, validated again, by ascending node."""
        return self.collected()[0]

    def collected(self) -> tuple[Answers, OpenData]:
        """Return the answers to the questions and the open answers of the panel, validated again, by ascending node."""
        return self.form.split(*self.reports())

    def reports(self) -> tuple[list[int], list[bytes]]:
        """Return the nodes that have reported to this round, ascending, and their bodies."""
        query = sa.select(REPORTS.c.node, REPORTS.c.body).where(REPORTS.c.study == self._number)
        with self._connection() as connection:
            rows = connection.execute(query.order_by(REPORTS.c.node)).all()
        return [int(node) for node, _ in rows], [bytes(body) for _, body in rows]

    def nodes(self) -> list[int]:
        """Return the nodes that have reported to this round, ascending."""
        query = sa.select(REPORTS.c.node).where(REPORTS.c.study == self._number).order_by(REPORTS.c.node)
        with self._connection() as connection:
            return [int(node) for node in connection.execute(query).scalars()]

    def blocks(self, first: int, last: int, size: int) -> Iterator[tuple[Answers, OpenData]]:
        """Yield what :meth:`collected` returns for a range of nodes, some reports at a time, as of one moment.

        Args:
            first: The lowest node.
            last: The node behind the highest.
            size: The most reports at a time.
        """
        query = sa.select(REPORTS.c.node, REPORTS.c.body).where(REPORTS.c.study == self._number).limit(size)
        with self.snapshot() as connection:
            while first < last:
                some = query.where(REPORTS.c.node >= first, REPORTS.c.node < last).order_by(REPORTS.c.node)
                rows = connection.execute(some).all()
                if rows:
                    yield self.form.split([int(node) for node, _ in rows], [bytes(body) for _, body in rows])
                first = int(rows[-1][0]) + 1 if len(rows) == size else last

    def at(self, study: Study) -> Store:
        """Return the store of another round in the same database."""
        return self if study.id == self.study.id else Store(self._engine, study)

    def count(self) -> int:
        """Count the nodes that have reported."""
        return self._scalar(sa.select(sa.func.count()).where(REPORTS.c.study == self._number))

    def conflicts(self) -> int:
        """Count the different second reports that were refused."""
        total = sa.func.coalesce(sa.func.sum(CONFLICTS.c.count), 0)
        return self._scalar(sa.select(total).where(CONFLICTS.c.study == self._number))

    def timeline(self) -> list[tuple[int, int]]:
        """Count reports by the minute in which they came (seconds since 1970)."""
        query = sa.select(REPORTS.c.minute, sa.func.count()).where(REPORTS.c.study == self._number)
        with self._connection() as connection:
            rows = connection.execute(query.group_by(REPORTS.c.minute).order_by(REPORTS.c.minute)).all()
        return [(int(minute), int(count)) for minute, count in rows]

    def reject(self, reasons: Mapping[str, int]) -> None:
        """Count refused submissions by reason."""
        if not reasons:
            return
        sql = (
            "INSERT INTO rejections (study, reason, count) VALUES (:study, :reason, :count) "
            "ON CONFLICT (study, reason) DO UPDATE SET count = rejections.count + excluded.count"
        )
        rows = [{"study": self._number, "reason": reason, "count": count} for reason, count in reasons.items()]
        with self._connection(write=True) as connection:
            connection.execute(sa.text(sql), rows)

    def rejections(self) -> dict[str, int]:
        """Return the counts of refused submissions by reason."""
        query = sa.select(REJECTIONS.c.reason, REJECTIONS.c.count).where(REJECTIONS.c.study == self._number)
        with self._connection() as connection:
            return {reason: int(count) for reason, count in connection.execute(query.order_by(REJECTIONS.c.reason))}

    def revoke(self, node: int, serial: int) -> None:
        """Refuse a token from now on; what it has reported stays."""
        sql = "INSERT INTO revoked (study, node, serial) VALUES (:study, :node, :serial) ON CONFLICT DO NOTHING"
        with self._connection(write=True) as connection:
            connection.execute(sa.text(sql), {"study": self._number, "node": node, "serial": serial})

    def revoked(self) -> frozenset[tuple[int, int]]:
        """Return the revoked (node, serial) pairs."""
        query = sa.select(REVOKED.c.node, REVOKED.c.serial).where(REVOKED.c.study == self._number)
        with self._connection() as connection:
            return frozenset((int(node), int(serial)) for node, serial in connection.execute(query))

    def forget(self, node: int, by: Eraser, now: float | None = None) -> bool:
        """Erase all that somebody reported, in every round, and refuse what they might send; False if done before.

        The bytes are gone from the tables at once, and from the files after :meth:`remove_traces`.
        """
        minute = int((time.time() if now is None else now) // 60 * 60)
        with self._connection(write=True) as connection:
            return Erasures(connection, self.study.chain).erase(node, minute, by)

    def remove_traces(self) -> bool:
        """Remove the bytes of what was deleted from the files; False if a reader is in the way, so ask again later."""
        with self._told():
            return remove_traces(self._engine)

    def erased(self, nodes: Sequence[int]) -> set[int]:
        """Return those of the people whose reports were erased."""
        with self._connection() as connection:
            return Erasures(connection, self.study.chain).among(nodes)

    def erasures(self) -> list[Erasure]:
        """Return whose reports were erased, oldest first."""
        with self._connection() as connection:
            return Erasures(connection, self.study.chain).entries()

    def add_nameless_erasures(self, erasures: Sequence[Erasure]) -> None:
        """Remember that people were erased, without saying who: for copies that anybody may see."""
        with self._connection(write=True) as connection:
            Erasures(connection, self.study.chain).add_nameless(erasures)

    def expire(self, now: datetime | None = None, *, early: bool = False) -> int:
        """Delete the reports of every round whose retention has ended; if ``early``, of the others too.

        The time is believed: the operator wants it. A collector, which nobody watches, uses :meth:`look_at_clock`.

        Returns:
            The number of reports that were deleted; :meth:`expired` keeps it.
        """
        with self._connection(write=True) as connection:
            return Expiry(connection, self.study.chain).expire(now or datetime.now(UTC), early=early)

    def look_at_clock(self, now: datetime | None = None) -> Retention:
        """Note the time once a minute, and delete what is due if the clock has run on without a jump for hours."""
        with self._connection(write=True) as connection:
            return Expiry(connection, self.study.chain).look(now or datetime.now(UTC))

    def due(self, now: datetime | None = None) -> int:
        """Count the reports of all rounds whose retention has ended."""
        with self._connection() as connection:
            return Expiry(connection, self.study.chain).due(now or datetime.now(UTC))

    def expired(self) -> Expired | None:
        """Return what was deleted because its retention had ended; None if nothing was."""
        with self._connection() as connection:
            return Expiry(connection, self.study.chain).expired()

    def close(self) -> None:
        """Accept no new reports, whatever the manifest's closing time."""
        change = sa.update(STUDIES).where(STUDIES.c.number == self._number, STUDIES.c.closed.is_(None))
        with self._connection(write=True) as connection:
            StudyRows(connection, self.study.chain).lock(alone=True)  # for reports that are being stored
            connection.execute(change.values(closed=int(time.time())))

    def reopen(self) -> None:
        """Take reports again until the manifest's closing time."""
        change = sa.update(STUDIES).where(STUDIES.c.number == self._number)
        with self._connection(write=True) as connection:
            connection.execute(change.values(closed=None))

    def is_closed(self) -> bool:
        """Tell whether the operator closed the study."""
        with self._connection() as connection:
            return self._is_closed(connection)

    def _is_closed(self, connection: sa.Connection) -> bool:
        query = sa.select(STUDIES.c.closed).where(STUDIES.c.number == self._number)
        return connection.execute(query).scalar() is not None

    @contextmanager
    def leases(self, *, write: bool = False) -> Iterator[Leases]:
        """Yield the leases on computing the study's next round, in a transaction that is committed if ``write``."""
        with self._connection(write=write) as connection:
            yield Leases(connection, self.study.chain)

    def add_model(self, document: Mapping[str, Any]) -> None:
        """Remember a trained model for the operator's page.

        Args:
            document: Its name, system, metrics, and ``erasures``: how many people had been erased before.
        """
        with self._connection(write=True) as connection:
            connection.execute(sa.insert(MODELS).values(study=self._number, document=json.dumps(document)))

    def models(self) -> list[dict[str, Any]]:
        """Return the models of all rounds, oldest first, each with the number of erasures since its training."""
        with self._connection() as connection:
            erasures = Erasures(connection, self.study.chain)
            query = sa.select(MODELS.c.document).where(MODELS.c.study.in_(erasures.rounds())).order_by(MODELS.c.number)
            known = [json.loads(document) for document in connection.execute(query).scalars()]
            return [{**model, "erasures_since": erasures.count() - model["erasures"]} for model in known]
