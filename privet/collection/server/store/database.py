"""The database of a collector: SQLite in WAL mode by default, PostgreSQL by URL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.pool import StaticPool

from privet.collection.server.store.tables import METADATA
from privet.errors import InvalidData, InvalidParameter, one_line

__all__ = ["Database", "StoreFailure", "engine_for"]

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
    """The tables in a database, which are made if they are not there.

    Args:
        engine: The database.
    """

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
            raise StoreFailure(str(getattr(error, "orig", None) or error)) from None

    def _scalar(self, query: sa.Select[Any]) -> int:
        with self._connection() as connection:
            return int(connection.execute(query).scalar_one())
