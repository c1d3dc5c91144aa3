"""Files that an operator downloads: made in a temporary folder that is gone before the first byte is sent."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import BinaryIO, TypeAlias

from starlette.concurrency import run_in_threadpool

from privet.collection.operator.export.answer_files import write_answers
from privet.collection.operator.export.public_record import copy_record
from privet.collection.operator.export.spreadsheets import write_csv, write_panel
from privet.collection.server.http.intake import Refused
from privet.collection.server.store.store import Store

__all__ = ["FORMS", "file_of", "pieces"]

Writer: TypeAlias = Callable[[Store, Path], object]
_PIECE = 1 << 18


def _parquet(store: Store, out: Path) -> None:
    erasures = len(store.erasures())  # counted first: a later erasure is one after the export
    write_answers(out, store.study, store.answers(), erasures)


def _csv(store: Store, out: Path) -> None:
    write_csv(out, store.study, store.answers())


def _panel(store: Store, out: Path) -> None:
    write_panel(out, store.study, store.collected()[1])


_WRITERS: Mapping[str, tuple[str, str, Writer]] = {
    "parquet": ("answers.parquet", "application/vnd.apache.parquet", _parquet),
    "csv": ("answers.csv", "text/csv; charset=utf-8", _csv),
    "panel": ("panel.csv", "text/csv; charset=utf-8", _panel),
    "record": ("record.sqlite", "application/vnd.sqlite3", copy_record),
}
FORMS = tuple(_WRITERS)


def file_of(store: Store, form: str) -> tuple[BinaryIO, str, str]:
    """Return a file to read, its name and its type; it has no place in any folder any more.

    Args:
        store: The store of the round; for a record, of the first one.
        form: One of :data:`FORMS`.
    """
    name, kind, write = _WRITERS[form]
    if form == "panel" and not len(store.form.panel):
        raise Refused(404, "no panel", "This round has no panel.")
    if form in ("parquet", "csv") and not store.study.release.questions:
        raise Refused(404, "no questions", "This round has a panel and no questions; download the panel's answers.")
    with tempfile.TemporaryDirectory(prefix="privet-") as folder:
        out = Path(folder) / name
        write(store, out)
        file = out.open("rb")
    return file, name if form == "record" else f"round-{store.study.round}-{name}", kind


async def pieces(file: BinaryIO) -> AsyncIterator[bytes]:
    """Yield a file's bytes piece by piece, and close it, whether or not all of them are wanted."""
    try:
        while piece := await run_in_threadpool(file.read, _PIECE):
            yield piece
    finally:
        file.close()
