"""The forms in which an operator downloads a study: files of answers, a panel, results, the public record."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from privet.collection.operator.export.answer_files import answer_tables, write_answers
from privet.collection.operator.export.public_record import copy_record
from privet.collection.operator.keys import write_secret_rows
from privet.collection.operator.results.reading import results_in
from privet.collection.server.http.operator_routes import Download
from privet.collection.server.store.overview import stores_of
from privet.collection.server.store.store import Store
from privet.collection.study.forms import OpenData
from privet.collection.study.manifest import Study
from privet.release import Answers

__all__ = ["DOWNLOADS", "write_csv", "write_panel"]


def write_csv(path: str | os.PathLike[str], study: Study, answers: Answers) -> None:
    """Write all answers with the columns of the Parquet file; the entries of a list have a space between them.

    Args:
        study: The round that was answered.
        answers: The answers of those who took part.
    """
    names = ["node", *(each.name for each in study.release.wire.columns)]
    tables = answer_tables(study, answers)
    rows = (row for table in tables for row in zip(*(table[name].to_pylist() for name in names), strict=True))
    write_secret_rows(path, names, (list(map(_cell, row)) for row in rows))


def write_panel(path: str | os.PathLike[str], study: Study, shown: OpenData) -> None:
    """Write what a panel shows: node, the features in their order, the class, and the friends where they are shown.

    Args:
        study: The round that asked the panel.
    """
    names = ["node", *(f"feature_{i}" for i in range(study.declared.dimension)), "label"]
    columns = zip(shown.users.tolist(), shown.features.tolist(), shown.labels.tolist(), strict=True)
    rows = [[node, *features, label] for node, features, label in columns]
    if shown.lists is not None:
        names.append("neighbours")
        starts, listed = shown.lists.indptr.tolist(), shown.lists.indices.tolist()
        rows = [[*row, _cell(listed[starts[i] : starts[i + 1]])] for i, row in enumerate(rows)]
    write_secret_rows(path, names, rows)


def _cell(value: Any) -> Any:
    return " ".join(map(str, value)) if isinstance(value, list) else value


def _parquet(store: Store, out: Path) -> None:
    erasures = len(store.erasures())  # counted first: a later erasure is one after the export
    write_answers(out, store.study, store.answers(), erasures)


def _csv(store: Store, out: Path) -> None:
    write_csv(out, store.study, store.answers())


def _panel(store: Store, out: Path) -> None:
    write_panel(out, store.study, store.collected()[1])


def _results(first: Store, out: Path) -> None:
    results_in(stores_of(first)).save(out)


DOWNLOADS: Mapping[str, Download] = {
    "parquet": Download("answers.parquet", "application/vnd.apache.parquet", _parquet, "questions"),
    "csv": Download("answers.csv", "text/csv; charset=utf-8", _csv, "questions"),
    "panel": Download("panel.csv", "text/csv; charset=utf-8", _panel, "panel"),
    "results": Download("results.html", "text/html; charset=utf-8", _results),
    "results-csv": Download("results.csv", "text/csv; charset=utf-8", _results),
    "record": Download("record.sqlite", "application/vnd.sqlite3", copy_record),
}
"""The forms in which an operator can download a study."""
