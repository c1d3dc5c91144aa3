"""Restoration of a study from a backup into a new directory, and into a new store of either kind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from privet.collection.operator.backup import Backup, DamagedBackup, is_public, open_backup, tables
from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.keys import Keys
from privet.collection.server.store.database import METADATA, STUDIES
from privet.collection.server.store.store import StoreFailure, engine_for
from privet.collection.study.manifest import Study
from privet.data.files import atomic_directory
from privet.errors import InvalidData

__all__ = ["Restored", "restore_backup"]


@dataclass(frozen=True)
class Restored:
    """A study that was restored.

    Attributes:
        folder: Its new directory.
        reports: The number of its reports.
        same_links: Whether links that were sent before the backup still work.
        made: When the backup was made, in seconds since 1970.
    """

    folder: StudyFolder
    reports: int
    same_links: bool
    made: int


def restore_backup(path: Path, target: Path) -> Restored:
    """Restore a study; a damaged file, or one with a report that no device could have sent, leaves nothing behind.

    Reports go to SQLite in the new directory, or to the PostgreSQL database that the environment names.

    Args:
        target: The directory to make; it must not exist yet or be empty.
    """
    with open_backup(path) as backup:
        manifests = [Study.from_bytes(row[2]) for rows in backup.rows(STUDIES) for row in rows]
        study = next((each for each in manifests if each.id == backup.facts["study"]), None)
        if study is None:
            raise DamagedBackup(path, "its manifest is missing")
        drawn = Keys.make()
        folder = StudyFolder(target, study, _keys(drawn, backup.facts))
        with atomic_directory(target) as place:
            folder.write_files(place)
            here = replace(folder, path=place, keys=replace(folder.keys, store=None))
            _fill(engine_for(here.database), backup)
            reports = _check(here)
            if folder.keys.store is not None:  # the file was for the check only
                _fill(engine_for(folder.database), backup)
                Path(here.database).unlink()
    same_links = "keys" in backup.facts or "signing" in drawn.places
    return Restored(folder, reports, same_links, int(backup.facts["made"]))


def _keys(drawn: Keys, facts: Mapping[str, str]) -> Keys:
    """Return the keys of the backup, where it has them and the environment gives no others."""
    found = json.loads(facts.get("keys", "{}"))
    if "signing" in found and "signing" not in drawn.places:
        drawn = replace(drawn, signing=tuple(bytes.fromhex(key) for key in found["signing"]))
    if "operator" in found and "operator" not in drawn.places:
        drawn = replace(drawn, operator=tuple(found["operator"]))
    return drawn


def _fill(engine: sa.Engine, backup: Backup) -> None:
    """Insert all rows in one transaction; rounds get new numbers, because other studies may have theirs."""
    try:
        with engine.begin() as connection:
            METADATA.create_all(connection)
            numbers: dict[int, int] = {}
            for table in sorted(tables(), key=lambda each: each is not STUDIES):
                for rows in backup.rows(table):
                    named = [dict(zip(table.c.keys(), row, strict=True)) for row in rows]
                    if table is STUDIES:
                        for row in named:
                            numbers[row["number"]] = _enrol(connection, row)
                    else:
                        _insert(connection, table, named, numbers)
    except sa.exc.SQLAlchemyError as error:
        raise StoreFailure(str(getattr(error, "orig", None) or error)) from None
    finally:
        engine.dispose()


def _enrol(connection: sa.Connection, row: dict[str, Any]) -> int:
    known = sa.select(STUDIES.c.number).where(STUDIES.c.id == row["id"])
    if connection.execute(known).first() is not None:
        raise InvalidData(f"The store has study {row['id'][:12]} already. Restore it to an empty database.")
    connection.execute(sa.insert(STUDIES), {name: value for name, value in row.items() if name != "number"})
    return int(connection.execute(known).scalar_one())


def _insert(connection: sa.Connection, table: sa.Table, rows: list[dict[str, Any]], numbers: dict[int, int]) -> None:
    for row in rows:
        row.pop("number", None)  # the database counts itself
        if "study" in row:
            row["study"] = numbers[row["study"]]
    if is_public(table):
        held = set(connection.execute(sa.select(table.c.digest)).scalars())
        rows = [row for row in rows if row["digest"] not in held]
    if rows:
        connection.execute(sa.insert(table), rows)


def _check(folder: StudyFolder) -> int:
    """Check every report of every round with the round's own form, and count them."""
    with folder.store() as first:
        stores = [first.at(study) for study in first.chain().rounds]
        for store in stores:
            store.collected()
        return sum(store.count() for store in stores)
