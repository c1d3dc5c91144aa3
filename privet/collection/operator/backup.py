"""Backups of a study: one SQLite file with its rows of every table, whatever database the reports are in.

A backup is read in one transaction that sees the state of its beginning (a snapshot in SQLite's WAL mode, REPEATABLE
READ in PostgreSQL), so collectors go on meanwhile. Rows are copied and not pages: what was erased is in no free page of
the file, other studies in the same database are left out, and either kind of database can be restored from it.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import sqlalchemy as sa

from privet.collection.operator.folder import StudyFolder
from privet.collection.server.store.database import METADATA, STUDIES
from privet.collection.study.manifest import Study
from privet.data.files import atomic_file
from privet.data.store.files import flush_directory, flush_file
from privet.errors import InvalidData, PrivetError

__all__ = ["Backup", "DamagedBackup", "is_public", "open_backup", "tables", "write_backup"]

FORMAT = "privet-backup-1"
_CHUNK = 10_000
_HASH = re.compile("[0-9a-f]{64}")
Rows: TypeAlias = list[tuple[Any, ...]]


class DamagedBackup(InvalidData):
    """A file that is no whole backup.

    Args:
        problem: A clause that says what is wrong with it.
    """

    def __init__(self, path: Path, problem: str) -> None:
        PrivetError.__init__(self, f"{path} is no whole backup: {problem}. Nothing was restored.")


@dataclass(frozen=True)
class Backup:
    """A backup whose checksum is right.

    Attributes:
        facts: The id of the study's first round (``study``), the time (``made``), and perhaps the ``keys``.
        rows: Yields the rows of a table in groups.
    """

    facts: dict[str, str]
    rows: Callable[[sa.Table], Iterator[Rows]]


def tables() -> list[sa.Table]:
    """Return the tables of a backup: those whose rows belong to a study."""
    return [table for table in METADATA.sorted_tables if {"study", "chain", "digest"} & set(table.c.keys())]


def is_public(table: sa.Table) -> bool:
    """Tell whether a table holds public data by their hash, which several studies of a database may share."""
    return "study" not in table.c and "digest" in table.c


def write_backup(path: Path, out: Path, *, with_keys: bool = False) -> int:
    """Write a backup while collectors run, and return the number of reports in it.

    Every report that was acknowledged before the call is in it. The file appears whole or not at all, and is readable
    by its owner only.

    Args:
        path: The study's directory.
        with_keys: Put the keys in as well: whoever has the file can then issue tokens.
    """
    folder = StudyFolder.open(path)
    facts = {"format": FORMAT, "study": folder.study.id, "made": str(int(time.time()))}
    if with_keys:
        keys = {"signing": [key.hex() for key in folder.keys.signing], "operator": list(folder.keys.operator)}
        facts["keys"] = json.dumps(keys)
    with atomic_file(out, private=True) as file:
        with (
            closing(sqlite3.connect(file, isolation_level=None)) as copy,
            folder.store() as store,
            store.snapshot() as source,
        ):
            count = _copy(source, folder.study, copy, facts)
        flush_file(file)
    flush_directory(out.parent)
    return count


@contextmanager
def open_backup(path: Path) -> Iterator[Backup]:
    """Open a backup for reading, and refuse one that is damaged."""
    if not path.is_file():
        raise DamagedBackup(path, "there is no such file")
    try:
        copy = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)
    except sqlite3.Error as error:
        raise DamagedBackup(path, f"it cannot be opened ({error})") from None

    def rows(table: sa.Table) -> Iterator[Rows]:
        found = copy.execute(f'SELECT {_columns(table)} FROM "{table.name}" ORDER BY rowid')
        while some := found.fetchmany(_CHUNK):
            yield some

    with closing(copy):
        try:
            facts = dict(copy.execute("SELECT name, value FROM backup").fetchall())
            expected = facts.pop("digest", None)
            found = _digest(facts, ((table.name, rows(table)) for table in tables()))
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise DamagedBackup(path, f"it cannot be read ({str(error).splitlines()[0]})") from None
        if facts.get("format") != FORMAT:
            raise DamagedBackup(path, f"its format is not {FORMAT}")
        if found != expected:
            raise DamagedBackup(path, "its checksum is wrong")
        yield Backup(facts, rows)


def _copy(source: sa.Connection, study: Study, copy: sqlite3.Connection, facts: dict[str, str]) -> int:
    """Copy the rows of a study with their checksum, and count the reports."""
    copy.execute("PRAGMA journal_mode=OFF")  # the file is thrown away if anything goes wrong
    copy.execute("PRAGMA synchronous=OFF")  # and flushed as a whole once it is complete
    copy.execute("BEGIN")
    own = _Rows.of(source, study)
    reports = 0

    def copied(table: sa.Table) -> Iterator[Rows]:
        nonlocal reports
        copy.execute(f'CREATE TABLE "{table.name}" ({_columns(table)})')
        insert = f'INSERT INTO "{table.name}" VALUES ({", ".join("?" * len(table.columns))})'
        for rows in own.read(source, table):
            copy.executemany(insert, rows)
            reports += len(rows) if table.name == "reports" else 0
            yield rows

    digest = _digest(facts, ((table.name, copied(table)) for table in tables()))
    copy.execute("CREATE TABLE backup (name, value)")
    copy.executemany("INSERT INTO backup VALUES (?, ?)", [*facts.items(), ("digest", digest)])
    copy.execute("COMMIT")
    return reports


@dataclass(frozen=True)
class _Rows:
    """The rows of a database that belong to one study.

    Attributes:
        chain: The id of its first round.
        numbers: The numbers of its rounds.
        named: Every hash that their manifests name.
    """

    chain: str
    numbers: list[int]
    named: frozenset[str]

    @classmethod
    def of(cls, source: sa.Connection, study: Study) -> _Rows:
        query = sa.select(STUDIES.c.number, STUDIES.c.id, STUDIES.c.manifest).where(STUDIES.c.chain == study.chain)
        found = source.execute(query).all()
        named = {name for row in found for name in (row.id, *_HASH.findall(bytes(row.manifest).decode()))}
        return cls(study.chain, [row.number for row in found], frozenset(named))

    def read(self, source: sa.Connection, table: sa.Table) -> Iterator[Rows]:
        """Yield the study's rows of a table in groups."""
        query = sa.select(table).order_by(*table.primary_key)
        if "study" in table.c:
            query = query.where(table.c.study.in_(self.numbers))
        elif "chain" in table.c:
            query = query.where(table.c.chain == self.chain)
        for rows in source.execution_options(yield_per=_CHUNK).execute(query).partitions():
            kept = [tuple(row) for row in rows]
            if is_public(table):
                kept = [row for row in kept if str(row[0])[-64:] in self.named]
            yield kept


def _digest(facts: dict[str, str], content: Iterable[tuple[str, Iterable[Rows]]]) -> str:
    """Return the SHA-256 of facts and rows, each value with its kind and length, so that nothing can shift."""
    checksum = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for name, groups in content:
        checksum.update(b"\0%s" % name.encode())
        for rows in groups:
            checksum.update(b"".join(_encoded(value) for row in rows for value in row))
    return checksum.hexdigest()


def _columns(table: sa.Table) -> str:
    return ", ".join(f'"{column.name}"' for column in table.columns)


def _encoded(value: object) -> bytes:
    if value is None:
        return b"n"
    if isinstance(value, int):
        return b"i%d;" % value
    if isinstance(value, bytes):
        return b"b%d:%s" % (len(value), value)
    if isinstance(value, str):
        text = value.encode()
        return b"s%d:%s" % (len(text), text)
    raise TypeError(f"a {type(value).__name__} is no value of a store")
