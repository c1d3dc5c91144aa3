"""Edge lists in pieces of bounded size, checked; a fault is told with its file and line."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.data.graph import SelfLoops
from privet.data.store.files import reading
from privet.errors import InvalidData, InvalidParameter, one_line

__all__ = ["Piece", "cut_into_pieces", "find_edge", "read_piece"]

ENDS = ("source", "target")


@dataclass(frozen=True)
class Piece:
    """A part of an edge list that fits into memory.

    Attributes:
        path: The file.
        columns: Its columns' names.
        first: The first byte (CSV) or the row group (Parquet).
        last: The byte after the last one (CSV).
    """

    path: Path
    columns: tuple[str, ...]
    first: int
    last: int

    @property
    def is_csv(self) -> bool:
        """True for a CSV file, False for Parquet."""
        return self.path.suffix == ".csv"


def cut_into_pieces(path: Path, size: int) -> list[Piece]:
    """Cut a file into pieces: a CSV at line ends, a Parquet file at its row groups.

    Args:
        path: A ``.csv`` or ``.parquet`` file with the columns source and target.
        size: The bytes of a piece of CSV.
    """
    if path.suffix not in (".csv", ".parquet"):
        raise InvalidParameter("edges", ".csv or .parquet files", path.name)
    with reading(path):
        if path.suffix == ".parquet":
            file = _parquet(path)
            with file:
                names = tuple(file.schema_arrow.names)
                _check_columns(path, names)
                _check_types(path, file.schema_arrow)
                return [Piece(path, names, group, group + 1) for group in range(file.num_row_groups)]
        with path.open("rb") as stream:
            header = stream.readline()
            names = tuple(name.strip().strip('"') for name in header.decode("utf-8-sig", "replace").split(","))
            _check_columns(path, names)
            ends = [stream.tell()]
            total = path.stat().st_size
            while ends[-1] < total:
                stream.seek(min(ends[-1] + size, total))
                stream.readline()
                ends.append(stream.tell())
    return [Piece(path, names, first, last) for first, last in itertools.pairwise(ends)]


def read_piece(piece: Piece, nodes: int, self_loops: SelfLoops, rows: int) -> Iterator[NDArray[np.int64]]:
    """Read the edges of a piece, [2, n] at a time.

    Args:
        nodes: The number of nodes, which ids must be below.
        self_loops: ``"refuse"``, ``"drop"`` or ``"keep"`` edges from a node to itself.
        rows: The largest n.
    """
    before = 0
    for table in _tables(piece, rows):
        arrays = [table[name] for name in ENDS]
        if any(array.null_count for array in arrays):
            _refuse(piece, nodes, self_loops, before, table)
        edges = np.stack([array.to_numpy().astype(np.int64, copy=False) for array in arrays])
        if edges.size and (edges.min() < 0 or edges.max() >= nodes):
            _refuse(piece, nodes, self_loops, before, table)
        loops = edges[0] == edges[1]
        if loops.any():
            if self_loops == "refuse":
                _refuse(piece, nodes, self_loops, before, table)
            if self_loops == "drop":
                edges = edges[:, ~loops]
        before += table.num_rows
        yield edges


def find_edge(pieces: Sequence[Piece], source: int, target: int, directed: bool) -> list[str]:
    """List where an edge stands, as "FILE line 12", by reading everything again.

    Args:
        pieces: All pieces, in order.
        source: The edge's source.
        target: The edge's target.
        directed: False if the reversed edge is the same one.
    """
    wanted = {(source, target)} | (set() if directed else {(target, source)})
    return [
        place for piece in pieces for place, fields in _places(piece) if fields is not None and _pair(fields) in wanted
    ]


def _pair(fields: tuple[Any, Any]) -> tuple[int, int] | None:
    try:
        return int(fields[0]), int(fields[1])
    except (TypeError, ValueError):
        return None


def _tables(piece: Piece, rows: int) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import csv

    if not piece.is_csv:
        with reading(piece.path), _parquet(piece.path) as file:
            try:
                yield from file.iter_batches(rows, row_groups=[piece.first], columns=list(ENDS), use_threads=False)
            except (pa.ArrowException, OSError) as error:
                raise InvalidData(f"The file {piece.path} is damaged: {one_line(str(error))}.") from None
        return
    try:
        table = csv.read_csv(
            pa.BufferReader(_text(piece)),
            csv.ReadOptions(use_threads=False, column_names=list(piece.columns)),
            csv.ParseOptions(quote_char=False),
            csv.ConvertOptions(column_types=dict.fromkeys(ENDS, pa.int64()), include_columns=list(ENDS)),
        )
    except pa.ArrowInvalid as error:
        _refuse_first(piece, 0, "refuse")
        raise InvalidData(f"The file {piece.path} is no table of numbers: {one_line(str(error))}.") from None
    yield from (batch for batch in table.to_batches(rows))


def _text(piece: Piece) -> bytes:
    with reading(piece.path), piece.path.open("rb") as stream:
        stream.seek(piece.first)
        return stream.read(piece.last - piece.first)


def _places(piece: Piece) -> Iterator[tuple[str, tuple[Any, Any] | None]]:
    """Go through a piece slowly: where each row stands, and its two ends; None if the row is ragged."""
    if not piece.is_csv:
        with _parquet(piece.path) as file:
            row = sum(file.metadata.row_group(group).num_rows for group in range(piece.first))
        for table in _tables(piece, 1 << 16):
            for source, target in zip(table["source"].to_pylist(), table["target"].to_pylist(), strict=True):
                yield f"{piece.path.name} row {row}", (source, target)
                row += 1
        return
    with piece.path.open("rb") as stream:
        line = sum(chunk.count(b"\n") for chunk in _until(stream, piece.first))
    columns = [piece.columns.index(name) for name in ENDS]
    for text in _text(piece).decode("utf-8", "replace").split("\n"):
        line += 1
        fields = text.rstrip("\r").split(",")
        if fields == [""]:
            continue
        whole = len(fields) == len(piece.columns)
        yield f"{piece.path.name} line {line}", (fields[columns[0]], fields[columns[1]]) if whole else None


def _until(stream: Any, end: int) -> Iterator[bytes]:
    while (left := end - stream.tell()) > 0:
        yield stream.read(min(left, 1 << 22))


def _refuse(piece: Piece, nodes: int, self_loops: SelfLoops, before: int, table: Any) -> None:
    _refuse_first(piece, nodes, self_loops)
    raise InvalidData(f"The file {piece.path} has a fault in its rows {before} to {before + table.num_rows}.")


def _refuse_first(piece: Piece, nodes: int, self_loops: SelfLoops) -> None:
    """Raise the error of the first row at fault; ``nodes`` = 0 leaves ranges and loops aside."""
    for place, fields in _places(piece):
        if fields is None:
            raise InvalidData(f"{place} must have {len(piece.columns)} fields, {','.join(piece.columns)}.")
        for name, text in zip(ENDS, fields, strict=True):
            try:
                value = int(text)
            except (TypeError, ValueError):
                found = "empty" if text in (None, "") else repr(one_line(str(text)))
                raise InvalidData(f"{place}: the {name} must be an integer, and is {found}.") from None
            if nodes and not 0 <= value < nodes:
                raise InvalidData(f"{place}: the {name} must be a node id from 0 to {nodes - 1}, and is {value}.")
        if nodes and self_loops == "refuse" and int(fields[0]) == int(fields[1]):
            raise InvalidData(f"{place} joins node {int(fields[0])} to itself; drop or keep such loops.")


def _parquet(path: Path) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return parquet.ParquetFile(path)
    except pa.ArrowException as error:
        raise InvalidData(f"The file {path} is no Parquet table: {one_line(str(error))}.") from None


def _check_columns(path: Path, names: tuple[str, ...]) -> None:
    for name in ENDS:
        if names.count(name) != 1:
            raise InvalidData(
                f"{path.name} line 1 must name the columns source and target once; it has {one_line(','.join(names))}."
            )
    if "weight" in names:
        raise InvalidData(f"{path.name} has a column 'weight'; a graph store holds edges without weights.")


def _check_types(path: Path, schema: Any) -> None:
    import pyarrow as pa

    for name in ENDS:
        kind = schema.field(name).type
        if not pa.types.is_integer(kind):
            raise InvalidData(f"column {name!r} of {path.name}", "integers", f"{kind} values")
