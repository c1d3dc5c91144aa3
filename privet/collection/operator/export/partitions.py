"""The reports of a study as a directory of Parquet files by ranges of nodes, for more reports than one process holds.

::

    answers.json          written last: the study's id, the ranges, rows and files with SHA-256
    part-00007.parquet    the answers of nodes starts[7] to starts[8] - 1, as ``write_answers`` writes a whole study

Every part is read from the database and written on its own, by the workers of a cluster or by this process, some
thousands of reports at a time. Everything is written to ``DIR.partial``, which becomes DIR in the end: an export that
was stopped goes on with the parts that are missing. A part whose erased people are not the ones erased by now is made
again. Only the owner of the files may read them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from privet.collection.operator.export.answer_files import answer_tables, read_answers, read_study, write_tables
from privet.collection.operator.folder import StudyFolder
from privet.collection.server.store.deletion import Erasure
from privet.collection.server.store.store import Store
from privet.collection.study.manifest import Study
from privet.data.store import GraphStore, write_table
from privet.data.store.files import StoredFile, flush_directory, flush_file, keep_private, reading, seal, write_text
from privet.data.store.manifest import folder_of
from privet.data.store.running import Progress, run_tasks
from privet.errors import InvalidData, InvalidParameter
from privet.release import Answers

if TYPE_CHECKING:
    import pyarrow as pa
    from distributed import Client

__all__ = ["PartitionedAnswers", "export_partitions", "export_to_store"]

_MANIFEST = "answers.json"
_BLOCK = 1 << 14  # reports read at a time


class Part(BaseModel):
    """A finished part.

    Attributes:
        rows: The number of its reports.
        erasures: The number of its people who were erased before it was read.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rows: int
    erasures: int
    file: StoredFile


class _Record(BaseModel):
    """The record of a finished part, until the export is.

    Attributes:
        erased: The SHA-256 of the list of its people who were erased before it was read. Their number is not enough:
            after an older backup was restored, others may be erased.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    part: Part
    erased: str


class ExportManifest(BaseModel):
    """The manifest of an export.

    Attributes:
        study: The id of the study.
        starts: The first node of each part, and the number of nodes last.
        erasures: The number of people who were erased before, wherever they were.
        parts: The parts, in the order of their nodes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["privet-answers-partitioned-1"] = "privet-answers-partitioned-1"
    study: str
    starts: tuple[int, ...]
    erasures: int
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class PartitionedAnswers:
    """An export on disk.

    Attributes:
        path: Its directory.
        manifest: Its manifest.
    """

    path: Path
    manifest: ExportManifest

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> PartitionedAnswers:
        """Open an export by its manifest; no other file is read."""
        file = Path(path) / _MANIFEST
        with reading(file):
            try:
                return cls(Path(path), ExportManifest.model_validate_json(file.read_bytes()))
            except ValidationError:
                raise InvalidData(f"{file} is no manifest of exported answers.") from None

    @staticmethod
    def is_at(path: Path) -> bool:
        """Tell whether a directory is an export."""
        return (path / _MANIFEST).is_file()

    @property
    def num_parts(self) -> int:
        """The number of parts."""
        return len(self.manifest.parts)

    @property
    def num_reports(self) -> int:
        """The number of reports in all parts."""
        return sum(part.rows for part in self.manifest.parts)

    def study(self) -> Study:
        """Read the study's manifest, and no report."""
        study = read_study(self.path / self.manifest.parts[0].file.name)
        if study.id != self.manifest.study:
            raise InvalidData(f"{self.path / _MANIFEST} names another study than the files beside it.")
        return study

    def read(self, part: int) -> tuple[Study, Answers]:
        """Read one part, after comparing its checksum, if devices of the study could have sent every report.

        Args:
            part: The part's number.
        """
        file = self.manifest.parts[part].file
        file.check(self.path)
        study, answers = read_answers(self.path / file.name)
        first, last = self.manifest.starts[part : part + 2]
        users = answers.users
        if study.id != self.manifest.study or (len(users) and not first <= users[0] <= users[-1] < last):
            raise InvalidData(f"{self.path / file.name} does not belong to this export.")
        return study, answers

    def answers(self) -> tuple[Study, Answers]:
        """Read all parts at once, as compact as reports are: for systems that learn in one process."""
        for part in self.manifest.parts:
            part.file.check(self.path)
        study, answers = read_answers(*(self.path / part.file.name for part in self.manifest.parts))
        if study.id != self.manifest.study:
            raise InvalidData(f"{self.path / _MANIFEST} names another study than the files beside it.")
        return study, answers

    def tables(self, columns: list[str] | None = None) -> Iterator[pa.Table]:
        """Yield each part as a :class:`pyarrow.Table`, for :func:`privet.data.store.write_table`.

        Args:
            columns: The columns to read; all by default.
        """
        from pyarrow import parquet

        for part in self.manifest.parts:
            part.file.check(self.path)
            with parquet.ParquetFile(self.path / part.file.name) as file:
                yield file.read(columns).replace_schema_metadata(None)


def export_partitions(
    folder: StudyFolder,
    out: str | os.PathLike[str],
    partitions: int,
    *,
    client: Client | None = None,
    progress: Progress | None = None,
) -> PartitionedAnswers:
    """Write the newest round's reports by ranges of nodes, or go on with an export that was stopped.

    Args:
        folder: The study. On PostgreSQL any number of workers reads at a time; a SQLite file must be on their machine.
        partitions: The number of parts.
        client: A Dask client whose workers read and write; this process by default.
        progress: Called with the phase, the number of finished parts and the number of all of them.
    """
    target = Path(out).absolute()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidParameter(f"{target} is not empty. Name a new or empty directory.")
    if not target.parent.is_dir():
        raise InvalidParameter(f"There is no directory {target.parent}. Name a directory in an existing one.")
    with folder.newest() as store:
        study = store.study
        if not 1 <= partitions <= study.nodes:
            raise InvalidParameter("partitions", f"from 1 to {study.nodes}", partitions)
        starts = tuple(study.nodes * part // partitions for part in range(partitions + 1))
        work = target.with_name(f"{target.name}.partial")
        if work.exists() and (store.expired() is not None or not _same(work, study, starts)):
            shutil.rmtree(work)  # of another study, or of reports whose retention has ended
        work.mkdir(mode=0o700, exist_ok=True)
        write_text(
            work / "inputs.json", ExportManifest(study=study.id, starts=starts, erasures=0, parts=()).model_dump_json()
        )
        expired, every = store.expired(), _tasks(folder, store, starts, work)
        while missing := [task for task in every if task.finished() is None]:
            run_tasks(_export, missing, client, progress, "exporting reports")
            every = _tasks(folder, store, starts, work)  # people may have been erased meanwhile
        if store.expired() != expired:  # some parts may have what others lack
            shutil.rmtree(work)
            raise InvalidData("The retention of reports ended while they were exported. Nothing is kept of them.")
        parts = tuple(part for part in (task.finished() for task in every) if part is not None)
        erasures = sum(len(task.erased) for task in every)
        manifest = ExportManifest(study=study.id, starts=starts, erasures=erasures, parts=parts)
    for part in parts:
        flush_file(work / part.file.name)
    write_text(work / _MANIFEST, manifest.model_dump_json(indent=1) + "\n")
    for leftover in [*work.glob("part-*.json"), work / "inputs.json"]:
        leftover.unlink()
    keep_private(work)
    flush_directory(work)
    if target.exists():
        target.rmdir()
    work.rename(target)
    flush_directory(target.parent)
    return PartitionedAnswers.open(target)


def export_to_store(
    folder: StudyFolder,
    store: GraphStore,
    partitions: int | None = None,
    *,
    client: Client | None = None,
    progress: Progress | None = None,
) -> int:
    """Write the newest round's reports as the table ``answers`` of a graph's store; return their number.

    Args:
        folder: The study, of as many nodes as the store has.
        store: The store; a table of that name is replaced. Its manifest has the study's id and the number of erasures.
        partitions: The number of parts in which reports are read; the store's number of partitions by default.
        client: As for :func:`export_partitions`.
        progress: As for :func:`export_partitions`.
    """
    if store.num_nodes != folder.study.nodes:
        raise InvalidData(f"store {store.path.name}", f"of the study's {folder.study.nodes} nodes", store.num_nodes)
    spool = store.path.with_name(f"{store.path.name}.answers")
    if PartitionedAnswers.is_at(spool):
        shutil.rmtree(spool)  # of a command that was stopped in the end; somebody may have been erased since
    while True:
        erased = _erased_by_now(folder)
        found = export_partitions(folder, spool, partitions or store.num_partitions, client=client, progress=progress)
        about: dict[str, str | int] = {"study": found.manifest.study, "erasures": found.manifest.erasures}
        write_table(store, "answers", found.tables(), about=about, private=True)
        shutil.rmtree(spool)
        if _erased_by_now(folder) == erased:  # somebody may have been erased while the table was written
            return found.num_reports


def _erased_by_now(folder: StudyFolder) -> list[Erasure]:
    with folder.newest() as store:
        return store.erasures()


def _same(work: Path, study: Study, starts: tuple[int, ...]) -> bool:
    try:
        begun = ExportManifest.model_validate_json((work / "inputs.json").read_bytes())
    except (OSError, ValidationError):
        return False
    return (begun.study, begun.starts) == (study.id, starts)


def _tasks(folder: StudyFolder, store: Store, starts: tuple[int, ...], work: Path) -> list[_Task]:
    """List all parts, each with those of its people who are erased by now: looked up before reports are read."""
    place = folder.database
    database = str(place.absolute() if isinstance(place, Path) else place)
    erased = np.sort([erasure.node for erasure in store.erasures()])
    gone = [tuple(some.tolist()) for some in np.split(erased, np.searchsorted(erased, starts))[1:-1]]
    manifest = store.study.canonical()
    ranges = enumerate(zip(pairwise(starts), gone, strict=True))
    return [_Task(database, manifest, number, *ends, some, work) for number, (ends, some) in ranges]


@dataclass(frozen=True)
class _Task:
    database: str
    study: bytes
    number: int
    first: int
    last: int
    erased: tuple[int, ...]
    folder: Path

    def __repr__(self) -> str:
        """Leave the database's address out, which may have a password."""
        return f"_Task(part {self.number})"

    @property
    def record(self) -> Path:
        """The file that says that the part is done."""
        return self.folder / f"{folder_of(self.number)}.json"

    @property
    def erased_digest(self) -> str:
        """The SHA-256 of the list of erased people."""
        return hashlib.sha256(repr(self.erased).encode()).hexdigest()

    def finished(self) -> Part | None:
        """Return the part if it is there, undamaged, and made without exactly those who are erased by now."""
        try:
            record = _Record.model_validate_json(self.record.read_bytes())
        except (OSError, ValidationError):
            return None
        same = record.erased == self.erased_digest
        return record.part if same and record.part.file.matches(self.folder) else None


def _export(task: _Task) -> None:
    """Write a part; running twice gives the same."""
    store = Store.open(task.database, Study.from_bytes(task.study))
    path = task.folder / f"{folder_of(task.number)}.parquet"
    rows = 0

    def tables() -> Iterator[pa.Table]:
        nonlocal rows
        for answers, _ in store.blocks(task.first, task.last, _BLOCK):
            rows += len(answers.users)
            yield from answer_tables(store.study, answers)
        if not rows:
            yield from answer_tables(store.study, store.form.split([], [])[0])

    with store:
        write_tables(path, store.study, tables(), len(task.erased))
    part = Part(rows=rows, erasures=len(task.erased), file=seal(path, task.folder))
    write_text(task.record, _Record(part=part, erased=task.erased_digest).model_dump_json(), flush=False)
