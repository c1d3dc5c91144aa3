"""Files about nodes, read in batches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from privet.data.store.files import reading
from privet.errors import InvalidData, InvalidParameter, one_line

__all__ = ["count_nodes", "read_node_batches"]

_BATCH = 1 << 18  # rows


def count_nodes(path: Path) -> int:
    """Count the rows of a file.

    Args:
        path: A ``.csv`` or ``.parquet`` file with the column node.
    """
    return sum(batch.num_rows for batch in read_node_batches(path, ["node"]))


def read_node_batches(path: Path, columns: list[str] | None = None) -> Iterator[Any]:
    """Read a file as :class:`pyarrow.Table` objects of bounded size.

    Args:
        path: A ``.csv`` or ``.parquet`` file with the column node.
        columns: The columns to read; all by default.
    """
    import pyarrow as pa
    from pyarrow import csv, parquet

    if path.suffix not in (".csv", ".parquet"):
        raise InvalidParameter("nodes", "a number, or a .csv or .parquet file", path.name)
    with reading(path):
        try:
            if path.suffix == ".parquet":
                with parquet.ParquetFile(path) as file:
                    _check(path, file.schema_arrow.names)
                    yield from map(_table, file.iter_batches(_BATCH, columns=columns))
            else:
                with csv.open_csv(path, convert_options=csv.ConvertOptions(include_columns=columns)) as file:
                    _check(path, file.schema.names)
                    yield from map(_table, file)
        except (pa.ArrowException, KeyError) as error:
            raise InvalidData(f"The file {path} is no table of nodes: {one_line(str(error))}.") from None


def _table(batch: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([batch])


def _check(path: Path, names: list[str]) -> None:
    if names.count("node") != 1:
        raise InvalidData(f"The file {path} must have one column 'node'; it has {one_line(', '.join(names))}.")
