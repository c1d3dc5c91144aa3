"""Tables about nodes in a store: one Parquet file for each partition, in the order of store rows."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from privet.data.store.files import StoredFile, flush_directory, keep_private, reading, seal, write_text, writing
from privet.data.store.manifest import folder_of
from privet.data.store.reading import GraphStore
from privet.errors import InvalidData, InvalidParameter

__all__ = ["StoredTable", "open_table", "write_blocks", "write_table"]


class TableManifest(BaseModel):
    """The manifest of a table.

    Attributes:
        format: The name of the layout.
        rows: The number of rows in each partition.
        files: The files, one for each partition.
        about: Facts about the table, by name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["privet-graph-table-1"] = "privet-graph-table-1"
    rows: tuple[int, ...]
    files: tuple[StoredFile, ...]
    about: Mapping[str, str | int] = Field(default_factory=dict)


@dataclass(frozen=True)
class StoredTable:
    """A table whose column ``node`` holds ids; a node has at most one row.

    Attributes:
        store: The store.
        path: The table's directory.
        manifest: The table's manifest.
    """

    store: GraphStore
    path: Path
    manifest: TableManifest

    @property
    def num_rows(self) -> int:
        """The number of rows in all partitions."""
        return sum(self.manifest.rows)

    def read(self, partition: int, columns: list[str] | None = None) -> Any:
        """Read one partition as a :class:`pyarrow.Table`, after comparing its checksum.

        Args:
            partition: The partition's number.
            columns: The columns to read; all by default.
        """
        from pyarrow import parquet

        file = self.manifest.files[partition]
        file.check(self.path)
        with parquet.ParquetFile(self.path / file.name) as opened:
            return opened.read(columns)

    def places(self, partition: int) -> NDArray[np.int64]:
        """Return the place of each row of a partition's table among the partition's nodes.

        Args:
            partition: The partition's number.
        """
        ids = self.read(partition, ["node"])["node"].to_numpy()
        return np.asarray(self.store.rows_of(ids) - self.store.starts[partition])

    @property
    def schema(self) -> Any:
        """The columns, as a :class:`pyarrow.Schema`."""
        from pyarrow import parquet

        return parquet.read_schema(self.path / self.manifest.files[0].name)


def open_table(store: GraphStore, name: str) -> StoredTable:
    """Open a table of a store.

    Args:
        name: The table's name.
    """
    folder = store.path / "tables" / name
    path = folder / "table.json"
    if not path.is_file():
        known = sorted(found.parent.name for found in store.path.glob("tables/*/table.json"))
        has = f"it has {', '.join(known)}" if known else "it has no tables"
        raise InvalidData(f"The store {store.path} has no table {name!r}; {has}.")
    with reading(path):
        try:
            manifest = TableManifest.model_validate_json(path.read_bytes())
        except ValidationError:
            raise InvalidData(f"{path} is no manifest of a table.") from None
    if len(manifest.files) != store.num_partitions:
        raise InvalidData(f"{path} has {len(manifest.files)} partitions; its store has {store.num_partitions}.")
    return StoredTable(store, folder, manifest)


def write_table(
    store: GraphStore,
    name: str,
    batches: Iterable[Any],
    *,
    complete: bool = False,
    about: Mapping[str, str | int] | None = None,
    private: bool = False,
) -> StoredTable:
    """Write a table whose rows come in any order and need not fit into memory together.

    Args:
        name: The table's name.
        batches: :class:`pyarrow.Table` objects of equal schema with the column ``node``, each small enough for memory.
        complete: True if every node must have a row.
        about: Facts that the table's manifest keeps; none by default.
        private: True if only the owner of the files may read them.
    """
    import pyarrow as pa

    with _new_table(store, name, private) as folder:
        spool = folder / "spool"
        spool.mkdir()
        schema, sorted_batches = None, []
        for number, batch in enumerate(batches):
            schema = schema or batch.schema
            path = spool / f"{number:06d}.arrow"
            _spool(store, batch, schema, path, name)
            sorted_batches.append(path)
        if schema is None:
            raise InvalidData(f"The table {name!r} has no batches; give at least one, which may be empty.")
        files, rows = [], []
        for partition in range(store.num_partitions):
            parts = [_spooled(path, partition) for path in sorted_batches]
            merged = pa.Table.from_batches(parts, schema)
            files.append(_write_sorted(store, folder, partition, merged, name))
            rows.append(merged.num_rows)
        if complete and sum(rows) != store.num_nodes:
            raise InvalidData(
                f"The table {name!r} must have a row for each of {store.num_nodes} nodes; has {sum(rows)}."
            )
        shutil.rmtree(spool)
        _seal_table(folder, rows, files, about)
        if private:
            keep_private(folder)
    return open_table(store, name)


def write_blocks(store: GraphStore, name: str, blocks: Iterable[Any]) -> StoredTable:
    """Write a table that is made partition by partition.

    Args:
        name: The table's name.
        blocks: One :class:`pyarrow.Table` with the column ``node`` for each partition, in the partitions' order.
    """
    with _new_table(store, name) as folder:
        files, rows = [], []
        for partition, block in enumerate(blocks):
            files.append(_write_sorted(store, folder, partition, block, name))
            rows.append(block.num_rows)
        if len(rows) != store.num_partitions:
            raise InvalidParameter("blocks", f"{store.num_partitions} tables", len(rows))
        _seal_table(folder, rows, files)
    return open_table(store, name)


@contextmanager
def _new_table(store: GraphStore, name: str, private: bool = False) -> Iterator[Path]:
    """Give a directory that becomes the table, and takes an older one's place, only if nothing failed."""
    if not name.isidentifier():
        raise InvalidParameter("name", "letters, digits and underscores", name)
    target = store.path / "tables" / name
    folder = target.with_name(f".{name}.partial")
    old = target.with_name(f".{name}.old")
    shutil.rmtree(folder, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700 if private else 0o777)
    try:
        yield folder
        shutil.rmtree(old, ignore_errors=True)
        if target.exists():
            target.rename(old)
        folder.rename(target)
        flush_directory(target.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _seal_table(
    folder: Path, rows: list[int], files: list[StoredFile], about: Mapping[str, str | int] | None = None
) -> None:
    manifest = TableManifest(rows=tuple(rows), files=tuple(files), about=about or {})
    write_text(folder / "table.json", manifest.model_dump_json(indent=1) + "\n")


def _spool(store: GraphStore, batch: Any, schema: Any, path: Path, name: str) -> None:
    """Write a batch with one record batch for each partition."""
    import pyarrow as pa

    try:
        table = batch.select(schema.names).cast(schema).combine_chunks()
    except (KeyError, pa.ArrowException):
        raise InvalidData(f"The batches of the table {name!r} differ in their columns or types.") from None
    rows = _store_rows(store, table, name)
    order = np.argsort(rows, kind="stable")
    cuts = np.searchsorted(rows[order], store.starts)
    table = table.take(pa.array(order))
    with writing(path) as temporary, pa.ipc.new_file(temporary, schema) as writer:
        for first, last in itertools.pairwise(cuts):
            part = table.slice(first, last - first).combine_chunks().to_batches()
            writer.write_batch(part[0] if part else pa.RecordBatch.from_pylist([], schema))


def _spooled(path: Path, partition: int) -> Any:
    import pyarrow as pa

    with reading(path), pa.OSFile(str(path)) as file:
        return pa.ipc.open_file(file).get_batch(partition)


def _write_sorted(store: GraphStore, folder: Path, partition: int, table: Any, name: str) -> StoredFile:
    import pyarrow as pa
    from pyarrow import parquet

    rows = _store_rows(store, table, name)
    if np.any(np.diff(rows) <= 0):
        order = np.argsort(rows, kind="stable")
        table, rows = table.take(pa.array(order)), rows[order]
        repeated = np.flatnonzero(np.diff(rows) == 0)
        if len(repeated):
            raise InvalidData(f"The table {name!r} has two rows for node {table['node'][int(repeated[0])].as_py()}.")
    if len(rows) and not (store.starts[partition] <= rows[0] and rows[-1] < store.starts[partition + 1]):
        raise InvalidData(f"The block {partition} of the table {name!r} holds nodes of another partition.")
    path = folder / f"{folder_of(partition)}.parquet"
    with writing(path) as temporary:
        parquet.write_table(table, temporary)
    return seal(path, folder)


def _store_rows(store: GraphStore, table: Any, name: str) -> NDArray[np.int64]:
    import pyarrow as pa

    if "node" not in table.column_names:
        raise InvalidData(f"The table {name!r} has no column 'node'.")
    column = table["node"]
    if len(column) == 0:
        return np.zeros(0, np.int64)
    if not pa.types.is_integer(column.type) or column.null_count:
        raise InvalidData(f"column 'node' of the table {name!r}", "integers without gaps", f"{column.type} values")
    return store.rows_of(column.to_numpy())
