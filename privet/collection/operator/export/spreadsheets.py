"""Answers as CSV files for people without Parquet, and what a panel shows as one of its own."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from typing import Any

from privet.collection.operator.export.answer_files import answer_tables
from privet.collection.study.manifest import Study
from privet.collection.study.open_answers import OpenData
from privet.data.files import atomic_file
from privet.release import Answers

__all__ = ["write_csv", "write_panel"]


def write_csv(path: str | os.PathLike[str], study: Study, answers: Answers) -> None:
    """Write all answers with the columns of the Parquet file; the entries of a list have a space between them.

    Args:
        path: The file to write.
        study: The round that was answered.
        answers: The answers of those who took part.
    """
    names = ["node", *(each.name for each in study.release.wire.columns)]
    tables = answer_tables(study, answers)
    rows = (row for table in tables for row in zip(*(table[name].to_pylist() for name in names), strict=True))
    _write(path, names, (list(map(_cell, row)) for row in rows))


def write_panel(path: str | os.PathLike[str], study: Study, shown: OpenData) -> None:
    """Write what a panel shows: node, the features in their order, and the class.

    Args:
        path: The file to write.
        study: The round that asked the panel.
        shown: The open answers.
    """
    names = ["node", *(f"feature_{i}" for i in range(study.declared.dimension)), "label"]
    columns = zip(shown.users.tolist(), shown.features.tolist(), shown.labels.tolist(), strict=True)
    _write(path, names, ([node, *features, label] for node, features, label in columns))


def _write(path: str | os.PathLike[str], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with atomic_file(path, private=True) as file, file.open("w", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)


def _cell(value: Any) -> Any:
    return " ".join(map(str, value)) if isinstance(value, list) else value
