"""The database of a collector and its tables: SQLite in WAL mode by default, PostgreSQL by URL.

No table has a place for a network address.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import sqlalchemy as sa
from sqlalchemy.pool import StaticPool

from privet.errors import InvalidData, InvalidParameter, one_line

__all__ = [
    "CLOCKS", "CONFLICTS", "ENDED", "ERASED", "EXPIRED", "LEASES", "METADATA", "MODELS", "PUBLIC", "REJECTIONS",
    "REPORTS", "REVOKED", "STUDIES", "TRACES", "Database", "StoreFailure", "StudyRows", "engine_for",
]  # fmt: skip

METADATA = sa.MetaData()
STUDIES = sa.Table(
    "studies",
    METADATA,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("id", sa.String(64), unique=True, nullable=False),
    sa.Column("manifest", sa.LargeBinary, nullable=False),
    sa.Column("closed", sa.BigInteger),
    sa.Column("chain", sa.String(64), nullable=False, index=True),
)
PUBLIC = sa.Table(
    "public",
    METADATA,
    sa.Column("digest", sa.String(80), primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
REPORTS = sa.Table(
    "reports",
    METADATA,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("node", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("minute", sa.BigInteger, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
CONFLICTS = sa.Table(  # no hash of what was refused: reports are so short that a hash tells which one it was
    "conflicts",
    METADATA,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("node", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("count", sa.BigInteger, nullable=False),
    sa.Column("minute", sa.BigInteger, nullable=False),
)
REJECTIONS = sa.Table(
    "rejections",
    METADATA,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("reason", sa.String(40), primary_key=True),
    sa.Column("count", sa.BigInteger, nullable=False),
)
REVOKED = sa.Table(
    "revoked",
    METADATA,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("node", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("serial", sa.BigInteger, primary_key=True, autoincrement=False),
)
MODELS = sa.Table(
    "models",
    METADATA,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("study", sa.Integer, nullable=False, index=True),
    sa.Column("document", sa.Text, nullable=False),
)
ERASED = sa.Table(  # tombstones: whose reports were erased, and must not come back
    "erased",
    METADATA,
    sa.Column("chain", sa.String(64), primary_key=True),
    sa.Column("node", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("minute", sa.BigInteger, nullable=False),
    sa.Column("by", sa.String(20), nullable=False),
)
TRACES = sa.Table(  # deletions whose bytes may still be in free space of the database's files
    "traces",
    METADATA,
    sa.Column("number", sa.Integer, primary_key=True),
    sqlite_autoincrement=True,
)
EXPIRED = sa.Table(  # what is left of a round after its retention: counts
    "expired",
    METADATA,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("minute", sa.BigInteger, nullable=False),
    sa.Column("reports", sa.BigInteger, nullable=False),
    sa.Column("conflicts", sa.BigInteger, nullable=False),
)
CLOCKS = sa.Table(  # the time as a study's collectors saw it last, and since when it has not jumped
    "clocks",
    METADATA,
    sa.Column("chain", sa.String(64), primary_key=True),
    sa.Column("seen", sa.BigInteger, nullable=False),
    sa.Column("settled", sa.BigInteger, nullable=False),
)
ENDED = sa.Table(  # rounds whose closing time passed while a collector looked
    "ended",
    METADATA,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
)
LEASES = sa.Table(  # the last lease on computing the next round
    "leases",
    METADATA,
    sa.Column("chain", sa.String(64), primary_key=True),
    sa.Column("round", sa.Integer, nullable=False),
    sa.Column("since", sa.BigInteger, nullable=False),
    sa.Column("renewed", sa.BigInteger, nullable=False),
    sa.Column("problem", sa.Text, nullable=False),
)

_TABLES_LOCK = 0x707269766574  # "privet"


class StoreFailure(InvalidData):
    """A database that cannot be used, or not now."""

    def __init__(self, said: str) -> None:
        line = next(iter(said.strip().splitlines()), "it gave no reason")
        super().__init__(f"The store's database cannot be used: {one_line(line)}.")


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
        sa.event.listen(engine, "begin", _begin_sqlite)
        return engine
    scheme = text.split("://", 1)[0]
    if scheme not in ("postgresql", "postgresql+psycopg"):
        raise InvalidParameter("store", "a file or a postgresql:// URL", f"{scheme}://")
    try:
        url = sa.make_url("postgresql+psycopg://" + text.split("://", 1)[1])
    except (sa.exc.ArgumentError, ValueError):
        raise InvalidParameter("The store's postgresql:// URL cannot be read. Check port and quoting.") from None
    return sa.create_engine(url, pool_pre_ping=True, hide_parameters=True)


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin where we say so
    settings = ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=30000", "temp_store=MEMORY", "secure_delete=ON")
    for setting in settings:
        connection.execute(f"PRAGMA {setting}")


def _begin_sqlite(connection: sa.Connection) -> None:
    # Who writes is alone from the first statement on: what it reads cannot change before it is committed.
    write = connection.get_execution_options().get("write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


class Database:
    """The tables in a database, which are made if they are not there."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine, self._for_writing = engine, engine.execution_options(write=True)
        with self._told(), self._for_writing.begin() as connection:
            if engine.dialect.name == "postgresql":  # two that start at once must not both make the tables
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_TABLES_LOCK})")
            METADATA.create_all(connection)

    def compact(self) -> None:
        """Bring a SQLite file into one piece, without the log of its writes beside it."""
        with self._told(), closing(self._engine.raw_connection()) as connection:
            connection.cursor().execute("PRAGMA journal_mode=DELETE")

    def dispose(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.dispose()

    @contextmanager
    def snapshot(self) -> Iterator[sa.Connection]:
        """Yield a connection that sees the state of one moment, whatever is written meanwhile, and changes nothing."""
        options: dict[str, Any] = {}
        if self._engine.dialect.name == "postgresql":
            options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self._told(), self._engine.connect().execution_options(**options) as connection:
            yield connection

    @contextmanager
    def _connection(self, *, write: bool = False) -> Iterator[sa.Connection]:
        """Yield a connection, in a transaction that is committed if ``write``."""
        with self._told(), self._for_writing.begin() if write else self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn the database's errors into one sentence without a report's bytes."""
        try:
            yield
        except sa.exc.SQLAlchemyError as error:
            first = _first(error)
            raise StoreFailure(str(getattr(first, "orig", None) or first)) from None

    def _scalar(self, query: sa.Select[Any]) -> int:
        with self._connection() as connection:
            return int(connection.execute(query).scalar_one())


def _first(error: BaseException) -> BaseException:
    """Return the failure that came first: a full SQLite ends its transaction, and then its savepoints are unknown."""
    found = error
    while error.__context__ is not None:
        error = error.__context__
        if isinstance(error, sa.exc.SQLAlchemyError):
            found = error
    return found


@dataclass(frozen=True)
class StudyRows:
    """The rows of one study in all its rounds, within one transaction.

    Attributes:
        connection: The transaction's connection.
        chain: The id of the study's first round.
    """

    connection: sa.Connection
    chain: str

    def lock(self, *, alone: bool) -> None:
        """Wait for erasures that are under way, and let no other begin; if ``alone``, for insertions too.

        PostgreSQL serves an advisory lock in the order of asking. Locks of rows it does not: those who share one go
        ahead of whoever waits to be alone, and under the load of many collectors an erasure would wait for ever.
        """
        if self.connection.dialect.name == "postgresql":
            shared = "" if alone else "_shared"
            key = int.from_bytes(bytes.fromhex(self.chain)[:8], signed=True)
            self.connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock{shared}({key})")

    def rounds(self) -> sa.Select[tuple[int]]:
        """Return the query for the numbers of the study's rounds."""
        return sa.select(STUDIES.c.number).where(STUDIES.c.chain == self.chain)
