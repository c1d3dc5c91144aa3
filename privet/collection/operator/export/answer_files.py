"""Answers as one Parquet file with the manifest in its metadata: what an operator exports and trains from.

A row is a respondent: ``node`` and the columns of the release's wire form, such as ``features.coordinates``,
``features.symbols``, ``label`` and ``neighbours``. A file is believed no more than the network: reading it checks every
symbol with the mechanisms of the manifest inside, and the pages by their checksums.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privet.collection.study.manifest import Study
from privet.data.files import atomic_file
from privet.errors import InvalidData, InvalidReports, PrivetError
from privet.release import Answers

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ImpossibleReports",
    "answer_tables",
    "read_answers",
    "read_erasures",
    "read_study",
    "write_answers",
    "write_tables",
]

_BLOCK = 1 << 16  # respondents written at a time, so that a block's lists stay below 2^31 entries
_CHECKED = {"write_page_checksum": True}
_FORMAT = b"privet-answers-2"
_KEYS = (b"privet.format", b"privet.study", b"privet.id")
_ERASURES = b"privet.erasures"


class ImpossibleReports(InvalidReports):
    """A file with a report that no device of its study can have sent."""

    def __init__(self, name: str, problem: InvalidReports) -> None:
        PrivetError.__init__(self, f"'{name}' holds a report that no device of its study can have sent. {problem}")


def write_answers(path: str | os.PathLike[str], study: Study, answers: Answers, erasures: int = 0) -> None:
    """Write all answers, in the order of their nodes, for their owner alone; nothing half-written stays behind.

    Args:
        path: The Parquet file to write.
        study: The study that was answered.
        answers: The answers of those who took part; each of them answered every question.
        erasures: The number of people whose reports were erased before; kept in the file's metadata.
    """
    write_tables(path, study, answer_tables(study, answers), erasures)


def write_tables(path: str | os.PathLike[str], study: Study, tables: Iterable[pa.Table], erasures: int = 0) -> None:
    """Write answers that come as tables of some rows each, of which one is held at a time.

    Args:
        path: The Parquet file to write.
        study: The study that was answered.
        tables: At least one table of :func:`answer_tables`, by ascending nodes.
        erasures: As for :func:`write_answers`.
    """
    import pyarrow.parquet as pq

    metadata = dict(zip(_KEYS, (_FORMAT, study.canonical(), study.id.encode()), strict=True))
    metadata[_ERASURES] = str(erasures).encode()
    with atomic_file(path, private=True) as file, contextlib.ExitStack() as opened:
        writer = None
        for table in tables:
            if writer is None:
                schema = table.schema.with_metadata(metadata)
                writer = opened.enter_context(pq.ParquetWriter(file, schema, compression="zstd", **_CHECKED))
            writer.write_table(table.replace_schema_metadata(metadata))


def answer_tables(study: Study, answers: Answers) -> Iterator[pa.Table]:
    """Yield all answers as Arrow tables of many rows, in the order of their nodes; one without rows if there are none.

    Args:
        study: The study that was answered.
        answers: The answers of those who took part; each of them answered every question.
    """
    ordered = Answers(study.release, answers.parts).checked()
    users = ordered.users
    if any(len(part) != len(users) for part in ordered.values()):
        raise InvalidReports("Some of the study's reports lack the answer to a question.")
    for start in range(0, max(len(users), 1), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(users)))
        yield _table(Answers(study.release, {name: part.take(rows) for name, part in ordered.items()}), study)


def read_answers(path: str | os.PathLike[str], *more: str | os.PathLike[str]) -> tuple[Study, Answers]:
    """Read the study and the answers of a file, if devices that follow its manifest could have sent all of them.

    Args:
        more: Further files of the same study, each with higher nodes than the one before.
    """
    sources = [Path(each) for each in (path, *more)]
    tables = [_read(source) for source in sources]
    study = _study_of(tables[0].schema.metadata or {}, sources[0].name)
    for table, source in zip(tables, sources, strict=True):
        if _study_of(table.schema.metadata or {}, source.name).id != study.id:
            raise InvalidData(f"{source.name} has reports of another study than {study.id}.")
        _check_columns(table, study)
    try:
        return study, _answers(_concatenated(tables), study)
    except InvalidReports as error:
        raise ImpossibleReports(sources[0].name, error) from None


def _concatenated(tables: list[pa.Table]) -> pa.Table:
    """Put tables behind each other; their metadata differ in the number of erasures."""
    import pyarrow as pa

    return pa.concat_tables([table.replace_schema_metadata(None) for table in tables])


def _read(source: Path) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(source, page_checksum_verification=True) as file:
            return file.read()
    except FileNotFoundError:
        raise InvalidData(f"There is no file {source.name}. 'privet study export' writes one.") from None
    except (pa.ArrowException, OSError) as error:
        raise InvalidData(f"file '{source.name}'", "a readable Parquet file of reports", str(error)) from None


def read_study(path: str | os.PathLike[str]) -> Study:
    """Read the manifest inside of a file, and no report."""
    return _study_of(_metadata(Path(path)), Path(path).name)


def read_erasures(path: str | os.PathLike[str]) -> int:
    """Return the number of people whose reports had been erased when a file was written."""
    source = Path(path)
    found = _metadata(source).get(_ERASURES, b"")
    if not found.isdigit():
        raise InvalidData(f"{source.name} does not say how many people were erased. 'privet study export' does.")
    return int(found)


def _metadata(source: Path) -> dict[bytes, bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(source) as file:
            return file.schema_arrow.metadata or {}
    except (pa.ArrowException, OSError) as error:
        raise InvalidData(f"file '{source.name}'", "a readable Parquet file of reports", str(error)) from None


def _table(answers: Answers, study: Study) -> pa.Table:
    import pyarrow as pa

    values = study.release.wire.values(answers)
    columns: dict[str, Any] = {"node": pa.array(answers.users, pa.int32())}
    for each in study.release.wire.columns:
        found = values[each.name]
        if each.column.count is None:
            columns[each.name] = pa.ListArray.from_arrays(found[0].astype(np.int32), found[1])
        elif each.column.name:
            columns[each.name] = _as_lists(found)
        else:
            columns[each.name] = pa.array(found[:, 0])
    return pa.table(columns)


def _answers(table: pa.Table, study: Study) -> Answers:
    nodes = _values(table, "node").astype(np.int64)
    wrong = (nodes < 0) | (nodes >= study.nodes)
    wrong[1:] |= nodes[1:] <= nodes[:-1]
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidReports("column 'node'", f"ascending ids below {study.nodes}", f"{nodes[row]} in row {row}")
    values: dict[str, Any] = {}
    for each in study.release.wire.columns:
        if each.column.count is None:
            lengths, listed = _lists(table, each.name)
            values[each.name] = (np.concatenate([[0], np.cumsum(lengths)]), listed)
        elif each.column.name:
            values[each.name] = _matrix(table, each.name, each.column.count)
        else:
            values[each.name] = _values(table, each.name)[:, None]
    return study.release.wire.answers(nodes, values)


def _study_of(metadata: dict[bytes, bytes], name: str) -> Study:
    if metadata.get(_KEYS[0]) != _FORMAT or _KEYS[1] not in metadata:
        raise InvalidData(f"{name} has no study's manifest, so 'privet study export' did not write it.")
    study = Study.from_bytes(metadata[_KEYS[1]])
    if metadata.get(_KEYS[2]) != study.id.encode():
        raise InvalidData(f"{name} has another id beside the manifest of the study {study.id}.")
    return study


def _check_columns(table: pa.Table, study: Study) -> None:
    """Demand the columns that the manifest asks for, of its types, and no others; a missing value is no answer."""
    import pyarrow as pa

    expected = {"node": pa.int32()}
    for each in study.release.wire.columns:
        kind = pa.from_numpy_dtype(each.column.dtype)
        expected[each.name] = pa.list_(kind) if each.column.name or each.column.count is None else kind
    found = {column.name: column.type for column in table.schema}
    if len(found) != table.num_columns or not _same(found, expected):
        wanted = ", ".join(f"{name} {kind}" for name, kind in expected.items())
        listed = ", ".join(f"{name} {kind}" for name, kind in found.items())
        raise InvalidReports("columns of a study's reports", wanted, listed)


def _same(found: dict[str, pa.DataType], expected: dict[str, pa.DataType]) -> bool:
    """Compare names and types; the writer's name for the elements of a list does not matter."""
    return found.keys() == expected.keys() and all(
        kind == found[name]
        or (hasattr(kind, "value_type") and getattr(found[name], "value_type", None) == kind.value_type)
        for name, kind in expected.items()
    )


def _as_lists(matrix: NDArray[Any]) -> pa.ListArray:
    import pyarrow as pa

    rows, width = matrix.shape
    starts = np.arange(rows + 1, dtype=np.int64) * width
    return pa.ListArray.from_arrays(pa.array(starts, pa.int32()), pa.array(np.ascontiguousarray(matrix).ravel()))


def _values(table: pa.Table, name: str) -> NDArray[Any]:
    column = table[name]
    _refuse_missing(column, name)
    return np.array(column.to_numpy())


def _lists(table: pa.Table, name: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the length of each row's list, and all of them end to end."""
    import pyarrow.compute as pc

    column = table[name]
    _refuse_missing(column, name)
    values = pc.list_flatten(column)
    _refuse_missing(values, name)
    lengths = pc.list_value_length(column).to_numpy().astype(np.int64)
    return lengths, np.array(values.to_numpy())


def _matrix(table: pa.Table, name: str, width: int) -> NDArray[Any]:
    lengths, values = _lists(table, name)
    wrong = lengths != width
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidReports(f"column '{name}'", f"lists of {width}", f"{lengths[row]} in row {row}")
    return values.reshape(-1, width)


def _refuse_missing(column: pa.ChunkedArray, name: str) -> None:
    if column.null_count:
        raise InvalidReports(f"column '{name}'", "filled in every row", f"{column.null_count} missing values")
