"""Answers as one Parquet file, the manifest in its metadata: what ``privet study export`` writes and ``train`` reads.

A row is a respondent: ``node``, ``coordinates`` (absent if every feature is reported), ``symbols`` and, where the
study asks for them, ``label`` and ``neighbours``. A file is believed no more than the network: reading it checks every
symbol with the mechanisms of the manifest inside, and the pages by their checksums.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.collection.answers import AnswerFormat, Answers
from privet.collection.study import Study
from privet.data.files import atomic_file
from privet.errors import InvalidData, InvalidReports
from privet.mechanisms import NeighbourReports, Reports

__all__ = ["read_answers", "write_answers"]

_BLOCK = 1 << 16  # respondents written at a time, so that a block's lists stay below 2^31 entries
_CHECKED = {"write_page_checksum": True}
_FORMAT = b"privet-answers-1"
_KEYS = (b"privet.format", b"privet.study", b"privet.id")


def write_answers(path: str | os.PathLike[str], study: Study, answers: Answers) -> None:
    """Write all answers, in the order of their nodes; nothing half-written stays behind."""
    import pyarrow.parquet as pq

    order = np.argsort(answers.nodes, kind="stable")
    metadata = dict(zip(_KEYS, (_FORMAT, study.canonical(), study.id.encode()), strict=True))
    with atomic_file(path) as file, contextlib.ExitStack() as opened:
        writer = None
        for start in range(0, max(len(order), 1), _BLOCK):
            table = _table(answers, order[start : start + _BLOCK])
            _check_columns(table, study)
            if writer is None:
                schema = table.schema.with_metadata(metadata)
                writer = opened.enter_context(pq.ParquetWriter(file, schema, compression="zstd", **_CHECKED))
            writer.write_table(table.replace_schema_metadata(metadata))


def _table(answers: Answers, order: NDArray[np.int64]) -> Any:
    import pyarrow as pa

    features = answers.features.take(order)
    columns: dict[str, Any] = {"node": pa.array(answers.nodes[order], pa.int32())}
    if features.indices is not None:
        columns["coordinates"] = _as_lists(features.indices)
    columns["symbols"] = _as_lists(features.symbols)
    if answers.labels is not None:
        columns["label"] = pa.array(answers.labels.symbols[order, 0])
    if answers.neighbours is not None:
        lists = answers.neighbours.take(order)
        columns["neighbours"] = pa.ListArray.from_arrays(lists.indptr.astype(np.int32), lists.indices)
    return pa.table(columns)


def read_answers(path: str | os.PathLike[str]) -> tuple[Study, Answers]:
    """The study and the answers of a file, if devices that follow its manifest could have sent every one of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = Path(path)
    try:
        with pq.ParquetFile(source, page_checksum_verification=True) as file:
            table = file.read()
    except FileNotFoundError:
        raise InvalidData(f"file '{source.name}'", "an existing file", "none") from None
    except (pa.ArrowException, OSError) as error:
        raise InvalidData(f"file '{source.name}'", "a readable Parquet file of reports", str(error)) from None
    study = _study_of(table.schema.metadata or {}, source.name)
    _check_columns(table, study)
    try:
        return study, _answers(table, study)
    except InvalidReports as error:
        raise InvalidData(f"file '{source.name}'", "reports that the study's devices can send", str(error)) from None


def _answers(table: Any, study: Study) -> Answers:
    nodes = _values(table, "node").astype(np.int64)
    wrong = (nodes < 0) | (nodes >= study.nodes)
    wrong[1:] |= nodes[1:] <= nodes[:-1]
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidReports("column 'node'", f"ascending ids below {study.nodes}", f"{nodes[row]} in row {row}")
    width = AnswerFormat(study).record["symbols"].shape[0]
    named = "coordinates" in table.column_names
    indices = _matrix(table, "coordinates", width) if named else None
    features = Reports(study.declared.dimension, _matrix(table, "symbols", width), indices)
    study.feature_mechanism.validate(features)
    labels = neighbours = None
    if study.label_mechanism is not None:
        labels = study.label_mechanism.validate(Reports(1, _values(table, "label")[:, None]))
    if study.neighbour_mechanism is not None:
        lengths, listed = _lists(table, "neighbours")
        starts = np.concatenate([[0], np.cumsum(lengths)])
        neighbours = study.neighbour_mechanism.validate(NeighbourReports(study.nodes, starts, listed, nodes))
    return Answers(nodes, features, labels, neighbours)


def _study_of(metadata: dict[bytes, bytes], name: str) -> Study:
    if metadata.get(_KEYS[0]) != _FORMAT or _KEYS[1] not in metadata:
        raise InvalidData(f"file '{name}'", "written by 'privet study export'", "one without a study's manifest")
    study = Study.from_bytes(metadata[_KEYS[1]])
    if metadata.get(_KEYS[2]) != study.id.encode():
        raise InvalidData(f"file '{name}'", f"one of the study {study.id}", "another id beside its manifest")
    return study


def _check_columns(table: Any, study: Study) -> None:
    """The columns that the manifest asks for, of its types, and no others; a missing value is no answer."""
    import pyarrow as pa

    record = AnswerFormat(study).record
    expected = {"node": pa.int32()}
    expected |= {"coordinates": pa.list_(pa.int32())} if "coordinates" in (record.names or ()) else {}
    expected |= {"symbols": pa.list_(pa.from_numpy_dtype(record["symbols"].base.newbyteorder("=")))}
    if study.labels is not None:
        expected["label"] = pa.from_numpy_dtype(record["label"].base.newbyteorder("="))
    expected |= {"neighbours": pa.list_(pa.int32())} if study.neighbours is not None else {}
    found = {column.name: column.type for column in table.schema}
    if len(found) != table.num_columns or not _same(found, expected):
        wanted = ", ".join(f"{name} {kind}" for name, kind in expected.items())
        listed = ", ".join(f"{name} {kind}" for name, kind in found.items())
        raise InvalidReports("columns of a study's reports", wanted, listed)


def _same(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Names and types; what the writer called the elements of a list does not matter."""
    return found.keys() == expected.keys() and all(
        kind == found[name]
        or (hasattr(kind, "value_type") and getattr(found[name], "value_type", None) == kind.value_type)
        for name, kind in expected.items()
    )


def _as_lists(matrix: NDArray[Any]) -> Any:
    import pyarrow as pa

    rows, width = matrix.shape
    starts = np.arange(rows + 1, dtype=np.int64) * width
    return pa.ListArray.from_arrays(pa.array(starts, pa.int32()), pa.array(np.ascontiguousarray(matrix).ravel()))


def _values(table: Any, name: str) -> NDArray[Any]:
    column = table[name]
    _refuse_missing(column, name)
    return np.array(column.to_numpy())


def _lists(table: Any, name: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The length of each row's list, and all of them end to end."""
    import pyarrow.compute as pc

    column = table[name]
    _refuse_missing(column, name)
    values = pc.list_flatten(column)
    _refuse_missing(values, name)
    lengths = pc.list_value_length(column).to_numpy().astype(np.int64)
    return lengths, np.array(values.to_numpy())


def _matrix(table: Any, name: str, width: int) -> NDArray[Any]:
    lengths, values = _lists(table, name)
    wrong = lengths != width
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidReports(f"column '{name}'", f"lists of {width}", f"{lengths[row]} in row {row}")
    return values.reshape(-1, width)


def _refuse_missing(column: Any, name: str) -> None:
    if column.null_count:
        raise InvalidReports(f"column '{name}'", "filled in every row", f"{column.null_count} missing values")
