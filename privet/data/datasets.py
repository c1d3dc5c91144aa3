"""Datasets by name or path.

The arrays of an npz file are described in docs/how-to/your-own-graph.md. A file written by :func:`save` also holds
``schema``, the JSON of the whole declaration.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from privet.data.edge_lists import check_written, read_directory, write_directory
from privet.data.files import atomic_file
from privet.data.graph import Graph
from privet.data.interop import load_pyg
from privet.data.schema import Schema
from privet.errors import InvalidData, InvalidParameter, PrivetError, one_line

__all__ = ["KNOWN", "Facts", "known_name", "load", "read_npz", "save", "write_npz"]


@dataclass(frozen=True, slots=True)
class Facts:
    """The published sizes of a graph, against which its file is checked.

    Attributes:
        nodes: The number of nodes.
        edges: The number of undirected edges.
        features: The number of feature columns.
        classes: The number of classes.
    """

    nodes: int
    edges: int
    features: int
    classes: int


KNOWN: Mapping[str, Facts] = MappingProxyType(
    {
        "acm": Facts(3_025, 13_128, 1_870, 3),
        "amazon": Facts(13_752, 245_861, 767, 10),
        "amherst": Facts(1_934, 79_835, 156, 6),
        "blogcatalog": Facts(5_196, 171_743, 8_189, 6),
        "citeseer": Facts(3_327, 4_552, 3_703, 6),
        "cora": Facts(2_708, 5_278, 1_433, 7),
        "cornell": Facts(15_374, 651_726, 1_085, 6),
        "dblp": Facts(17_716, 52_867, 1_639, 4),
        "facebook": Facts(22_470, 170_823, 4_714, 4),
        "flickr": Facts(7_575, 239_738, 12_047, 9),
        "german": Facts(955, 9_990, 46, 2),
        "github": Facts(37_700, 289_003, 4_005, 2),
        "pubmed": Facts(19_717, 44_324, 500, 3),
        "student": Facts(577, 4_243, 60, 2),
        "twitch": Facts(9_498, 153_138, 3_170, 2),
        "wikipedia": Facts(11_631, 170_773, 13_183, 2),
    }
)

_IN_PYG = {"amazon": "AmazonComputers", "citeseer": "CiteSeer", "cora": "Cora"}  # the same nodes, edges and features

_KINDS = {"num_nodes": "iu", "edges": "iu", "x_data": "fiub", "x_indices": "iu", "x_indptr": "iu", "x_shape": "iu"}
_KINDS |= {"x_low": "fiu", "x_high": "fiu", "y": "iu"}


def load(name: str | os.PathLike[str], root: str | os.PathLike[str] | None = None) -> Graph:
    """Load a graph.

    The classes of a known dataset are part of its public description. Those of another npz file come from its
    ``schema``; where it has none they are the largest class plus one, so declare them if labels are private.

    Args:
        name: A known dataset such as "cora", the path of an npz file or of a directory of tables, or one of PyTorch
            Geometric's datasets such as "pyg:Cora" (some of which have no schema: PyG declares no ranges).
        root: The directory of the known datasets' files, and the one to which PyG downloads. By default the
            environment variable PRIVET_DATA; for PyG, if that is not set either, the current directory.
    """
    key = os.fspath(name)
    if key in KNOWN:
        graph = read_npz(_named_file(key, root))
        return _checked_against(key, KNOWN[key], graph)
    if key.startswith("pyg:"):
        return load_pyg(key, root or os.environ.get("PRIVET_DATA") or ".")
    path = Path(key)
    if path.is_dir():
        return read_directory(path)
    if path.is_file():
        return read_npz(path)
    if path.suffix == ".npz" or len(path.parts) > 1:
        raise InvalidParameter(f"There is no file or directory {key!r}.")
    close = get_close_matches(key.lower(), KNOWN, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    raise InvalidParameter(f"There is no dataset {key!r}{hint} Give a path, or one of {', '.join(KNOWN)}.")


def save(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write a graph so that :func:`load` reads it.

    Args:
        graph: An unweighted graph with a schema.
        path: An npz file if it ends in ``.npz`` (undirected graphs only), otherwise a new directory of tables.
    """
    if Path(path).suffix == ".npz":
        write_npz(graph, path)
    else:
        write_directory(graph, path)


def read_npz(path: str | os.PathLike[str]) -> Graph:
    """Read the graph in an npz file and check all of it.

    Args:
        path: The file.
    """
    file = Path(path)
    arrays = _read_arrays(file)
    nodes = int(arrays["num_nodes"])
    features = _features(arrays, file.name)
    schema = _schema(arrays, file.name)
    labels = arrays["y"]
    if features.shape[0] != nodes:
        raise InvalidData(f"x_shape of '{file.name}'", f"{nodes} rows, one for each node", int(features.shape[0]))
    return Graph.from_edges(
        arrays["edges"],
        nodes,
        features=features if features.shape[1] or schema.dimension else None,
        labels=labels if labels.shape != (nodes,) or (labels >= 0).any() else None,
        schema=schema,
    )


def write_npz(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write an undirected, unweighted graph and its schema; splits are made from seeds and are not written.

    Args:
        path: The file to write.
    """
    if graph.directed or graph.weighted:
        raise InvalidData("An npz file holds undirected graphs without weights; this graph is another one.")
    schema = check_written(graph)
    features = sp.csr_array((graph.num_nodes, 0) if graph.features is None else graph.features, dtype=np.float32)
    arrays = {
        "num_nodes": np.int64(graph.num_nodes),
        "edges": graph.edges.astype(np.int32),
        "x_data": features.data,
        "x_indices": features.indices,
        "x_indptr": features.indptr,
        "x_shape": np.array(features.shape, np.int64),
        "x_low": schema.low.astype(np.float32),
        "x_high": schema.high.astype(np.float32),
        "y": np.full(graph.num_nodes, -1) if graph.labels is None else graph.labels,
        "schema": np.array(schema.to_json()),
    }
    with atomic_file(path) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(stream, **arrays)


def known_name(name: str) -> str:
    """Return the known dataset that a dataset of PyTorch Geometric is equal to; another name as it is.

    >>> known_name("pyg:Cora"), known_name("pyg:Reddit")
    ('cora', 'pyg:Reddit')
    """
    return next((known for known, other in _IN_PYG.items() if name == f"pyg:{other}"), name)


def _named_file(name: str, root: str | os.PathLike[str] | None) -> Path:
    place = root if root is not None else os.environ.get("PRIVET_DATA")
    if not place:
        raise InvalidParameter(
            f"The dataset {name!r} is a file. Name its directory with 'root', or set PRIVET_DATA to it. "
            + _how_to_get(name, "DIRECTORY")
        )
    file = Path(place) / f"{name}.npz"
    if not file.is_file():
        raise InvalidParameter(f"The directory {place} has no file {file.name}. {_how_to_get(name, place)}")
    return file


def _how_to_get(name: str, place: str | os.PathLike[str]) -> str:
    """Say where the papers' data are: PyTorch Geometric downloads some of them as they are."""
    if name not in _IN_PYG:
        return "Put it there (docs/how-to/your-own-graph.md describes such files), or name another file."
    source, target = f"pyg:{_IN_PYG[name]}", Path(place) / f"{name}.npz"
    line = f"from privet.data import load, save; save(load('{source}', '{place}'), '{target}')"
    return f'PyTorch Geometric downloads it: python -c "{line}", or use the dataset {source} as it is there.'


def _checked_against(name: str, facts: Facts, graph: Graph) -> Graph:
    columns = 0 if graph.features is None else int(graph.features.shape[1])
    found = (graph.num_nodes, graph.num_edges, columns)
    if graph.schema is None or found != (facts.nodes, facts.edges, facts.features):
        expected = f"of {facts.nodes} nodes, {facts.edges} edges and {facts.features} features"
        raise InvalidData(f"dataset '{name}'", expected, f"{found[0]}, {found[1]} and {found[2]}")
    declared = replace(graph.schema, classes=facts.classes, class_names=None)
    labels = graph.labels
    if labels is not None and labels.min() == 1 and labels.max() == facts.classes:
        labels = labels - 1  # some files count classes from 1
    return graph.replace(schema=declared, labels=labels)


def _read_arrays(file: Path) -> dict[str, Any]:
    unreadable = (OSError, EOFError, ValueError, KeyError, MemoryError, NotImplementedError, RuntimeError)
    try:
        with file.open("rb") as stream:  # np.load does not close a file that it cannot read
            archive = np.load(stream, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise InvalidData(f"The file '{file.name}' holds a single array and is no npz archive.")
            missing = sorted(_KINDS.keys() - set(archive.files))
            if missing:
                raise InvalidData(
                    f"The file '{file.name}' lacks {', '.join(missing)}. It must hold {', '.join(_KINDS)}."
                )
            arrays = {key: archive[key] for key in [*_KINDS, "schema"] if key in archive.files}
    except PrivetError:
        raise
    except (zipfile.BadZipFile, zlib.error, *unreadable) as error:
        reason = one_line(str(error))
        raise InvalidData(f"The file '{file.name}' cannot be read as an npz archive: {reason}.") from None
    for key, kinds in _KINDS.items():
        if arrays[key].dtype.kind not in kinds:
            expected = "integers" if kinds == "iu" else "numbers"
            raise InvalidData(f"{key} of '{file.name}'", expected, f"{arrays[key].dtype} values")
    dimensions = {"num_nodes": 0, "edges": 2}
    for key in _KINDS:
        if arrays[key].ndim != dimensions.get(key, 1):
            found = f"{arrays[key].ndim} dimensions"
            raise InvalidData(f"{key} of '{file.name}'", f"of {dimensions.get(key, 1)} dimensions", found)
    return arrays


def _features(arrays: Mapping[str, Any], file: str) -> sp.csr_array:
    if arrays["x_shape"].shape != (2,) or (arrays["x_shape"] < 0).any():
        raise InvalidData(f"x_shape of '{file}'", "two sizes", arrays["x_shape"].tolist())
    parts = (arrays["x_data"].astype(np.float32, copy=False), arrays["x_indices"], arrays["x_indptr"])
    try:
        return sp.csr_array(parts, shape=tuple(arrays["x_shape"].tolist()))
    except (ValueError, OverflowError) as error:
        raise InvalidData(f"features of '{file}'", "a well-formed CSR matrix", str(error)) from None


def _schema(arrays: Mapping[str, Any], file: str) -> Schema:
    dimension = int(arrays["x_shape"][1])
    if "schema" in arrays:
        if arrays["schema"].dtype.kind != "U" or arrays["schema"].ndim != 0:
            raise InvalidData(f"schema of '{file}'", "one string", f"{arrays['schema'].dtype} values")
        schema = Schema.from_json(str(arrays["schema"]))
        ranges = schema.low.astype(np.float32), schema.high.astype(np.float32)
        if not (np.array_equal(ranges[0], arrays["x_low"]) and np.array_equal(ranges[1], arrays["x_high"])):
            raise InvalidData(f"The ranges in the schema of '{file}' are not those of its x_low and x_high.")
        return schema
    for key in ("x_low", "x_high"):
        if arrays[key].shape != (dimension,):
            raise InvalidData(f"{key} of '{file}'", f"{dimension} numbers, one for each feature", arrays[key].size)
    labels = arrays["y"]
    classes = max(2, int(labels.max()) + 1) if labels.size and labels.max() >= 0 else 0
    try:
        return Schema.numeric(dimension, arrays["x_low"], arrays["x_high"], classes=classes)
    except InvalidParameter as error:
        raise InvalidData(f"x_low and x_high of '{file}'", "finite with low < high", str(error)) from None
