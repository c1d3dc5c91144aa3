"""A study's reports in a database: SQLite in WAL mode by default, PostgreSQL by URL.

A report is acknowledged only after the transaction that holds it is on disk, and a node has one report for ever: the
primary key (study, node) is what makes submission idempotent, whatever crashes in between.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.pool import StaticPool

from privet.collection.server.insertion import Insertion, Outcome
from privet.collection.server.tables import CONFLICTS, METADATA, MODELS, REJECTIONS, REPORTS, REVOKED, STUDIES
from privet.collection.study import Study
from privet.errors import InvalidData, InvalidParameter, PrivetError
from privet.release import Answers

__all__ = ["Outcome", "Store", "StoreFailure", "StudyClosed", "engine_for"]


_TABLES_LOCK = 0x707269766574  # "privet"


class StoreFailure(InvalidData):
    """A database that cannot be used, or not now."""

    def __init__(self, said: str) -> None:
        super().__init__("store", "a database that can be written", next(iter(said.strip().splitlines()), "nothing"))


class StudyClosed(PrivetError):
    """The operator closed the study before these reports were stored."""


def engine_for(place: str | Path) -> sa.Engine:
    """Return an engine for a file (SQLite) or a PostgreSQL URL."""
    text = str(place)
    if "://" not in text:
        options: dict[str, Any] = {"poolclass": StaticPool} if text == ":memory:" else {}
        if text != ":memory:" and Path(text).parent.is_dir():
            Path(text).touch(mode=0o600)  # who answered, and when, is for the operator only
        url = sa.URL.create("sqlite", database=text)  # a path may hold characters that mean something in a URL
        arguments = {"timeout": 30, "check_same_thread": False}
        engine = sa.create_engine(url, connect_args=arguments, hide_parameters=True, **options)
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
        return engine
    scheme = text.split("://", 1)[0]
    if scheme not in ("postgresql", "postgresql+psycopg"):
        raise InvalidParameter("store", "the study", "a file or a postgresql:// URL", f"{scheme}://")
    try:
        url = sa.make_url("postgresql+psycopg://" + text.split("://", 1)[1])
    except (sa.exc.ArgumentError, ValueError):
        raise InvalidParameter("store", "the study", "a postgresql:// URL", "one that cannot be read") from None
    return sa.create_engine(url, pool_pre_ping=True, hide_parameters=True)


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin where we say so
    for setting in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=30000", "temp_store=MEMORY"):
        connection.execute(f"PRAGMA {setting}")


class Store:
    """The reports of one study. Safe to use from several threads and, with PostgreSQL, from several processes.

    Args:
        engine: The database.
        study: The study; a database may hold several.
    """

    def __init__(self, engine: sa.Engine, study: Study) -> None:
        self.study = study
        self._engine = engine
        with self._told(), engine.begin() as connection:
            if engine.dialect.name == "postgresql":  # two that start at once must not both make the tables
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_TABLES_LOCK})")
            METADATA.create_all(connection)
            self._number = self._enrol(connection)

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
            outcomes = Insertion(connection, self._number, minute).of(nodes, bodies)
            # Last, so that SQLite takes the lock for writing first; PostgreSQL makes a closing operator wait.
            query = sa.select(STUDIES.c.closed).where(STUDIES.c.number == self._number).with_for_update(read=True)
            if connection.execute(query).scalar() is not None:
                raise StudyClosed
            return outcomes

    def get(self, node: int) -> bytes | None:
        """The stored body of a node."""
        return self.bodies([node]).get(node)

    def bodies(self, nodes: Sequence[int]) -> dict[int, bytes]:
        """The stored bodies of those of the nodes that have reported."""
        with self._connection() as connection:
            return Insertion(connection, self._number, 0).stored(nodes)

    def answers(self) -> Answers:
        """Everything that was reported, validated again, by ascending node."""
        query = sa.select(REPORTS.c.node, REPORTS.c.body).where(REPORTS.c.study == self._number)
        with self._connection() as connection:
            rows = connection.execute(query.order_by(REPORTS.c.node)).all()
        return self.study.release.wire.unpack([node for node, _ in rows], [bytes(body) for _, body in rows])

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

    def close(self) -> None:
        """Accept no new reports, whatever the manifest's closing time."""
        change = sa.update(STUDIES).where(STUDIES.c.number == self._number, STUDIES.c.closed.is_(None))
        with self._connection(write=True) as connection:
            connection.execute(change.values(closed=int(time.time())))

    def is_closed(self) -> bool:
        """Tell whether the operator closed the study."""
        query = sa.select(STUDIES.c.closed).where(STUDIES.c.number == self._number)
        with self._connection() as connection:
            return connection.execute(query).scalar() is not None

    def add_model(self, document: Mapping[str, Any]) -> None:
        """Remember a trained model's name, system and metrics for the operator's page."""
        with self._connection(write=True) as connection:
            connection.execute(sa.insert(MODELS).values(study=self._number, document=json.dumps(document)))

    def models(self) -> list[dict[str, Any]]:
        """Return the trained models, oldest first."""
        query = sa.select(MODELS.c.document).where(MODELS.c.study == self._number).order_by(MODELS.c.number)
        with self._connection() as connection:
            return [json.loads(document) for document in connection.execute(query).scalars()]

    def dispose(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    @contextmanager
    def _connection(self, *, write: bool = False) -> Iterator[sa.Connection]:
        """Yield a connection, in a transaction that is committed if ``write``."""
        with self._told(), self._engine.begin() if write else self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn the database's errors into one sentence without a report's bytes."""
        try:
            yield
        except sa.exc.SQLAlchemyError as error:
            raise StoreFailure(str(getattr(error, "orig", None) or error)) from None

    def _enrol(self, connection: sa.Connection) -> int:
        known = sa.select(STUDIES.c.number).where(STUDIES.c.id == self.study.id)
        sql = "INSERT INTO studies (id, manifest) VALUES (:id, :manifest) ON CONFLICT DO NOTHING"
        connection.execute(sa.text(sql), {"id": self.study.id, "manifest": self.study.canonical()})
        return int(connection.execute(known).scalar_one())

    def _scalar(self, query: sa.Select[Any]) -> int:
        with self._connection() as connection:
            return int(connection.execute(query).scalar_one())
