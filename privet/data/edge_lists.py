"""Edge lists and whole graphs as CSV or Parquet.

A directory holds ``edges`` (columns source, target), ``nodes`` (node, optionally label, then one column for each
feature in the schema's order), each as ``.csv`` or ``.parquet``, and ``schema.json``. Names may stand for codes where
the schema gives them. An undirected edge is listed once. Weights and splits have no place in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from privet.data.files import atomic_directory, atomic_file
from privet.data.graph import Duplicates, Features, Graph, SelfLoops
from privet.data.schema import Schema
from privet.data.validation import check_edges
from privet.errors import InvalidData, InvalidParameter, one_line

__all__ = ["check_written", "read_directory", "read_edges", "write_directory", "write_edges"]

Format = Literal["csv", "parquet"]
_BLOCK = 1 << 22  # entries made dense at a time while writing
_SPARSE_BELOW = 0.25  # a CSR entry takes twice the memory of a dense one


def read_edges(path: str | os.PathLike[str]) -> NDArray[np.int64]:
    """Read the edges, [2, E], of a file with the columns source and target.

    Args:
        path: A ``.csv`` or ``.parquet`` file.
    """
    table = _read_table(Path(path))
    _require_columns(table, ["source", "target"], Path(path).name)
    columns = [_integers(table["source"], "source", Path(path)), _integers(table["target"], "target", Path(path))]
    return np.stack(columns)


def write_edges(path: str | os.PathLike[str], edge_index: ArrayLike) -> None:
    """Write edges to a file with the columns source and target.

    Args:
        path: A ``.csv`` or ``.parquet`` file.
        edge_index: The edges' ends, [2, E].
    """
    import pyarrow as pa

    edges = check_edges(edge_index, np.iinfo(np.int64).max)
    with atomic_file(path) as temporary:
        table = pa.table({"source": edges[0].astype(np.int64), "target": edges[1].astype(np.int64)})
        _write_tables(temporary, iter([table]), table.schema)


def read_directory(
    path: str | os.PathLike[str],
    *,
    directed: bool = False,
    self_loops: SelfLoops = "refuse",
    duplicates: Duplicates = "refuse",
) -> Graph:
    """Read the graph in a directory; features of which less than a quarter is not zero become CSR.

    Args:
        path: The directory.
        directed: True if an edge need not have its mirror image.
        self_loops: ``"refuse"``, ``"drop"`` or ``"keep"`` edges from a node to itself.
        duplicates: ``"refuse"`` or ``"merge"`` edges that are listed twice.
    """
    folder = Path(path)
    try:
        schema = Schema.from_json((folder / "schema.json").read_text(encoding="utf-8"))
    except OSError:
        raise InvalidData(
            f"The directory '{folder.name}' has no schema.json. Write one with Schema(...).to_json()."
        ) from None
    except UnicodeDecodeError:
        raise InvalidData("The schema.json is not UTF-8 text.") from None
    nodes_path = _find(folder, "nodes")
    edges = read_edges(_find(folder, "edges"))
    nodes = _read_table(nodes_path)
    _require_columns(nodes, ["node"], nodes_path.name)
    order = _row_of_each_node(_integers(nodes["node"], "node", nodes_path), nodes_path.name)
    names = [name for name in nodes.column_names if name not in ("node", "label")]
    if schema.dimension and not names:
        raise InvalidData(
            f"The file '{nodes_path.name}' has no feature columns; its schema declares {schema.dimension}."
        )
    return Graph.from_edges(
        edges,
        len(order),
        directed=directed,
        self_loops=self_loops,
        duplicates=duplicates,
        schema=schema,
        features=_read_features(nodes, names, schema, nodes_path)[order] if names else None,
        labels=_read_labels(nodes, schema, nodes_path)[order] if "label" in nodes.column_names else None,
    )


def write_directory(graph: Graph, path: str | os.PathLike[str], format: Format = "parquet") -> None:  # noqa: A002
    """Write a graph as a new directory.

    Args:
        graph: An unweighted graph with a schema. Read a directed one back with ``read_directory(directed=True)``.
        path: The directory to make.
        format: ``"parquet"`` or ``"csv"``, of both tables.
    """
    if format not in ("csv", "parquet"):
        raise InvalidParameter("format", "'csv' or 'parquet'", format)
    if graph.weighted:
        raise InvalidData("A directory of tables holds graphs without weights; this graph has some other than 1.")
    schema = check_written(graph)
    with atomic_directory(path) as temporary:
        (temporary / "schema.json").write_text(schema.to_json(), encoding="utf-8")
        write_edges(temporary / f"edges.{format}", graph.edges)
        tables = _node_tables(graph)
        first = next(tables)
        _write_tables(temporary / f"nodes.{format}", chain([first], tables), first.schema)


def check_written(graph: Graph) -> Schema:
    """Return the schema of a graph that can be written; files hold the declaration with the data."""
    if graph.schema is None:
        raise InvalidData("A graph is written with its schema, and this one has none. Use Graph.replace(schema=...).")
    if graph.features is None and graph.schema.dimension:
        raise InvalidData(f"This graph has no features; its schema declares {graph.schema.dimension}.")
    return graph.schema


def _node_tables(graph: Graph) -> Iterator[Any]:
    """Make the nodes' table in blocks of rows, so that sparse features are never dense as a whole."""
    import pyarrow as pa

    width = 0 if graph.features is None else int(graph.features.shape[1])
    step = max(1, _BLOCK // (width + 1))
    for start in range(0, max(1, graph.num_nodes), step):
        stop = min(start + step, graph.num_nodes)
        columns: dict[str, Any] = {"node": np.arange(start, stop)}
        if graph.labels is not None:
            labels = graph.labels[start:stop]
            columns["label"] = pa.array(labels, mask=labels == -1)
        if graph.features is not None:
            block = graph.features[start:stop]
            dense = block if isinstance(block, np.ndarray) else block.toarray()
            columns |= {f"x{column}": np.ascontiguousarray(dense[:, column]) for column in range(width)}
        yield pa.table(columns)


def _write_tables(path: Path, tables: Iterator[Any], schema: Any) -> None:
    from pyarrow import csv, parquet

    if path.suffix not in (".csv", ".parquet"):
        raise InvalidParameter("path", "a .csv or .parquet file", path.name)
    open_writer = csv.CSVWriter if path.suffix == ".csv" else parquet.ParquetWriter
    with open_writer(path, schema) as writer:
        for table in tables:
            writer.write_table(table)


def _read_table(path: Path) -> Any:
    import pyarrow as pa
    from pyarrow import csv, parquet

    if path.suffix not in (".csv", ".parquet"):
        raise InvalidParameter("path", "a .csv or .parquet file", path.name)
    try:
        if path.suffix == ".csv":
            table = csv.read_csv(path)
        else:
            with parquet.ParquetFile(path) as file:
                table = file.read()
    except FileNotFoundError:
        raise InvalidData(f"There is no file '{path.name}'.") from None
    except (pa.ArrowException, OSError) as error:
        raise InvalidData(f"The file '{path.name}' is no {path.suffix[1:]} table: {one_line(str(error))}.") from None
    repeated = {name for name in table.column_names if table.column_names.count(name) > 1}
    if repeated:
        raise InvalidData(f"The file '{path.name}' has two columns called {min(repeated)!r}.")
    return table


def _find(folder: Path, stem: str) -> Path:
    found = [path for path in (folder / f"{stem}.csv", folder / f"{stem}.parquet") if path.is_file()]
    if len(found) != 1:
        has = "both of them" if found else "neither"
        raise InvalidData(f"The directory '{folder.name}' needs {stem}.csv or {stem}.parquet; it has {has}.")
    return found[0]


def _require_columns(table: Any, names: list[str], file: str) -> None:
    for name in names:
        if name not in table.column_names:
            raise InvalidData(
                f"The file '{file}' has no column {name!r}; it has {one_line(', '.join(table.column_names))}."
            )


def _integers(column: Any, name: str, path: Path) -> NDArray[np.int64]:
    import pyarrow as pa

    if len(column) == 0:
        return np.zeros(0, np.int64)
    if not pa.types.is_integer(column.type):
        raise InvalidData(f"column {name!r} of '{path.name}'", "integers", f"{column.type} values")
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy()))
        raise InvalidData(f"The column {name!r} of '{path.name}' is empty in row {row}.")
    values: NDArray[np.int64] = column.to_numpy().astype(np.int64)
    return values


def _coded(column: Any, names: Sequence[str] | None, name: str, path: Path) -> Any:
    """Replace names by codes; a text that is no name is told by its row, and an empty one stays empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    # Where a category is called "1" or "2020" a number in the file is its name, or a file could be read in two ways.
    numeric = any(each.replace(".", "", 1).lstrip("-").isdigit() for each in names or ())
    if names is None or not (pa.types.is_string(column.type) or numeric):
        return column
    texts = column.cast(pa.string())
    texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
    places = pc.index_in(texts, pa.array(names), skip_nulls=True)
    unknown = places.is_null().to_numpy() & texts.is_valid().to_numpy()
    if unknown.any():
        row = int(np.argmax(unknown))
        found = f"{texts[row].as_py()} in row {row}"
        raise InvalidData(f"column {name!r} of '{path.name}'", f"one of {', '.join(names)}", found)
    return places


def _read_labels(nodes: Any, schema: Schema, path: Path) -> NDArray[np.int64]:
    import pyarrow as pa

    column = _coded(nodes["label"], schema.class_names, "label", path)
    if pa.types.is_null(column.type):
        return np.full(len(column), -1, np.int64)
    if pa.types.is_integer(column.type):
        column = column.fill_null(-1)
    return _integers(column, "label", path)


def _read_features(nodes: Any, names: list[str], schema: Schema, path: Path) -> Features:
    """Read column by column into CSC, which costs only the entries that are not zero."""
    rows, values, sizes = [], [], [0]
    domains = chain(schema.features, repeat(None))  # a wrong number of columns is found by the graph
    for name, domain in zip(names, domains, strict=False):
        codes = _coded(nodes[name], getattr(domain, "names", None), name, path)
        column = _numbers(codes, name, path)
        kept = np.flatnonzero(column).astype(np.int32)
        rows.append(kept)
        values.append(column[kept])
        sizes.append(len(kept))
    shape = (nodes.num_rows, len(names))
    parts = (np.concatenate(values), np.concatenate(rows), np.cumsum(sizes))
    matrix = sp.csc_array(parts, shape=shape).tocsr()
    if matrix.nnz < _SPARSE_BELOW * shape[0] * shape[1]:
        return matrix
    dense: NDArray[np.float32] = matrix.toarray()
    return dense


def _numbers(column: Any, name: str, path: Path) -> NDArray[np.float32]:
    import pyarrow as pa

    if len(column) == 0:
        return np.zeros(0, np.float32)
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy()))
        raise InvalidData(f"The feature {name!r} of '{path.name}' is empty in row {row}.")
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise InvalidData(f"feature {name!r} of '{path.name}'", "numbers", f"{kind} values")
    values: NDArray[np.float32] = column.to_numpy().astype(np.float32)
    return values


def _row_of_each_node(nodes: NDArray[np.int64], file: str) -> NDArray[np.int64]:
    """Invert the permutation in the node column."""
    outside = (nodes < 0) | (nodes >= len(nodes))
    if outside.any():
        raise InvalidData(
            f"The column 'node' of '{file}' must hold each id from 0 to {len(nodes) - 1} once; row "
            f"{int(np.argmax(outside))} has another id."
        )
    rows = np.full(len(nodes), -1)
    rows[nodes] = np.arange(len(nodes))
    repeated = rows[nodes] != np.arange(len(nodes))
    if repeated.any():
        raise InvalidData(f"The column 'node' of '{file}' repeats an id in row {int(np.argmax(repeated))}.")
    return rows
