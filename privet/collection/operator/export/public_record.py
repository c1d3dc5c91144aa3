"""The public record of a study: everything that its rounds are computed from, in one SQLite file for anybody.

It holds the manifests, what they bind by hash, what panels show, randomised answers, and how many people were erased
but not who; no key, no token, no name, no time, and nothing about who tried what. Once somebody was erased it leaves
out the tables of later rounds. They were made from reports that the record no longer has: a list of those who are asked
or a table of classes could name who was erased, and a scorer, beside the panel that is left, tell something of what
they had shown. The manifests still have the tables' hashes, and nobody can try out persons and reports against them:
the random salts in the hashes are left out with the tables. A store of the same tables, it is read by the same code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import sqlalchemy as sa

from privet.collection.operator.folder import StudyFolder
from privet.collection.server.store.database import STUDIES
from privet.collection.server.store.deletion import Erasure
from privet.collection.server.store.store import Store
from privet.collection.study.manifest import Study
from privet.data.files import atomic_file
from privet.errors import InvalidData

__all__ = ["copy_record", "open_record", "write_record"]


def write_record(path: Path, out: Path) -> int:
    """Write the public record of a study, and return the number of reports in it.

    Args:
        path: The study's directory.
        out: The SQLite file to write; nothing half-written stays behind.
    """
    with StudyFolder.open(path).store() as source:
        return copy_record(source, out)


def copy_record(source: Store, out: Path) -> int:
    """Write the public record of a study whose store is open, and return the number of reports in it.

    Args:
        source: The store of the first round.
        out: The SQLite file to write; nothing half-written stays behind.
    """
    with atomic_file(out) as file:
        while True:
            erased = source.erasures()
            count = _copied(source, file, erased)
            if source.erasures() == erased:
                return count
            file.unlink()  # somebody withdrew meanwhile: their report is gone, but not the tables that tell of it


def _copied(source: Store, file: Path, erased: Sequence[Erasure]) -> int:
    """Write a record that knows of some erasures, and return the number of reports in it."""
    count = 0
    with Store.open(file, source.study) as copy:
        copy.add_nameless_erasures([replace(each, minute=0) for each in erased])
        for study in source.chain().rounds:
            here, there = source.at(study), copy.at(study)
            there.publish_from(here, without=_left_out(study, bool(erased)))
            nodes, bodies = here.reports()
            there.insert(nodes, bodies, now=0.0)
            count += len(nodes)
        copy.compact()
    return count


def _left_out(study: Study, erased: bool) -> set[str]:
    """Return the hashes of public data that a record does not have: names, and tables that tell of the erased."""
    names = set() if study.directory is None else {study.directory}
    if not (erased and study.earlier):
        return names
    tables = [
        getattr(question.ask, name) for question in study.release.questions for name in question.ask.attachments()
    ]
    return names | {str(digest).removeprefix("sha256:") for digest in (*tables, study.people) if digest is not None}


def open_record(path: Path) -> Store:
    """Open the store of a study's directory, or a public record.

    Args:
        path: The directory, or the file that :func:`write_record` wrote.
    """
    if path.is_dir():
        return StudyFolder.open(path).store()
    if not path.is_file():
        raise InvalidData(f"There is no public record {path.name}. 'privet study export --public' writes one.")
    engine = sa.create_engine(sa.URL.create("sqlite", database=str(path)))
    try:
        with engine.connect() as connection:
            query = sa.select(STUDIES.c.manifest).where(STUDIES.c.id == STUDIES.c.chain)
            manifests = [bytes(each) for each in connection.execute(query).scalars()]
    except sa.exc.SQLAlchemyError:
        manifests = []
    finally:
        engine.dispose()
    if len(manifests) != 1:
        raise InvalidData(f"{path.name} is not the public record of one study.")
    return Store.open(path, Study.from_bytes(manifests[0]))
