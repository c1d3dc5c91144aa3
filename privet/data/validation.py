"""The checks at a graph's door. Each is made once and names the row at fault, but no private value."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from privet.data.schema import Categories, Schema
from privet.errors import InvalidData

__all__ = ["Features", "check_adjacency", "check_edges", "check_features", "check_labels", "check_mask"]

Features: TypeAlias = sp.csr_array | NDArray[np.float32]


def check_edges(edge_index: ArrayLike, num_nodes: int) -> NDArray[np.integer[Any]]:
    """Check a list of edges, and return it as an array of integers [2, E].

    Args:
        edge_index: The edges' ends.
        num_nodes: The number of nodes, which ids must be below.
    """
    edges = np.asarray(edge_index)
    if edges.size == 0:
        edges = edges.reshape(2, 0).astype(np.int32)
    if edges.ndim != 2 or edges.shape[0] != 2:
        raise InvalidData("edge_index", "an array of shape [2, E]", f"shape {list(edges.shape)}")
    if not np.issubdtype(edges.dtype, np.integer):
        raise InvalidData("edge_index", "an array of integers", f"{edges.dtype} values")
    for end, ids in zip(("source", "target"), edges, strict=True):
        if ids.size and (ids.min() < 0 or ids.max() >= num_nodes):
            row = int(np.argmax((ids < 0) | (ids >= num_nodes)))
            raise InvalidData(f"The {end} of edge {row} must be a node id from 0 to {num_nodes - 1}.")
    return edges


def check_adjacency(matrix: Any, directed: bool) -> sp.csr_array:
    """Check an adjacency, and return it as a canonical float32 CSR array.

    Args:
        matrix: A square sparse matrix of positive finite weights.
        directed: False if it must be symmetric.
    """
    if not sp.issparse(matrix):
        raise InvalidData("adjacency", "a SciPy sparse array", type(matrix).__name__)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidData("adjacency", "square", f"shape {list(matrix.shape)}")
    adjacency = sp.csr_array(matrix, dtype=np.float32)
    _check_structure(adjacency, "adjacency")
    if not adjacency.has_sorted_indices:
        adjacency = adjacency.sorted_indices()
    if not adjacency.has_canonical_format:
        raise InvalidData("adjacency", "free of duplicate entries", f"two at {_first_duplicate(adjacency)}")
    bad = ~(np.isfinite(adjacency.data) & (adjacency.data > 0))
    if bad.any():
        raise InvalidData(
            f"The weight of an edge must be finite and above 0; the one at {_entry(adjacency, bad)} is not."
        )
    if not directed:
        _check_symmetry(adjacency)
    return adjacency


def check_features(features: Any, num_nodes: int, schema: Schema | None) -> Features:
    """Check features, and return them as a float32 CSR or dense array.

    Numbers outside their declared interval pass, because a device clips them; codes that no category has do not.

    Args:
        features: Finite numbers, one row for each node and one column for each feature of the schema.
        num_nodes: The number of nodes.
        schema: The declaration, if there is one.
    """
    matrix: Features
    if sp.issparse(features):
        matrix = sp.csr_array(features, dtype=np.float32)
        if matrix.ndim == 2:
            _check_structure(matrix, "features")
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
    else:
        matrix = _as_array(features, np.float32, "features", "numbers")
    if matrix.ndim != 2 or matrix.shape[0] != num_nodes:
        raise InvalidData("features", f"a matrix with a row for each of {num_nodes} nodes", f"shape {matrix.shape}")
    if schema is not None and matrix.shape[1] != schema.dimension:
        raise InvalidData("features", f"a matrix of the schema's {schema.dimension} columns", f"{matrix.shape[1]}")
    values = matrix if isinstance(matrix, np.ndarray) else matrix.data
    if not np.isfinite(values).all():
        raise InvalidData(f"The feature at {_entry(matrix, ~np.isfinite(values))} is not finite.")
    if schema is not None:
        _check_codes(matrix, schema)
    return matrix


def check_labels(labels: Any, num_nodes: int, schema: Schema | None) -> NDArray[np.int64]:
    """Check labels, and return them as int64.

    Args:
        labels: Each node's class, -1 where a node is unlabelled.
        num_nodes: The number of nodes.
        schema: The declaration with the number of classes, if there is one.
    """
    array = np.asarray(labels)
    if array.shape != (num_nodes,):
        raise InvalidData("labels", f"an array with an entry for each of {num_nodes} nodes", f"shape {array.shape}")
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise InvalidData("labels", "integers, -1 for an unlabelled node", f"{array.dtype} values")
    classes = np.iinfo(np.int64).max if schema is None else schema.classes
    bad = (array < -1) | (array >= classes)
    if bad.any():
        allowed = "at least 0" if schema is None else f"below the schema's {classes} classes and at least 0"
        raise InvalidData(f"The label of node {int(np.argmax(bad))} must be {allowed}, or -1 (unlabelled).")
    return array.astype(np.int64, copy=False)


def check_mask(mask: Any, name: str, length: int | None = None) -> NDArray[np.bool_]:
    """Check a mask, and return it as an array.

    Args:
        mask: One boolean for each node.
        name: The mask's name, for the error.
        length: The number of nodes, if it is known.
    """
    array = np.asarray(mask)
    if array.dtype != np.bool_ or array.ndim != 1:
        raise InvalidData(f"{name} mask", "a one-dimensional array of booleans", f"{array.ndim}-d {array.dtype}")
    if length is not None and len(array) != length:
        raise InvalidData(f"{name} mask", f"an array with an entry for each of {length} nodes", f"{len(array)} entries")
    return array


def _check_structure(matrix: sp.csr_array, name: str) -> None:
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise InvalidData(name, "a well-formed CSR matrix", str(error)) from None


def _check_symmetry(adjacency: sp.csr_array) -> None:
    mirror = adjacency.T.tocsr()
    if np.array_equal(adjacency.indptr, mirror.indptr) and np.array_equal(adjacency.indices, mirror.indices):
        unequal = adjacency.data != mirror.data
        if not unequal.any():
            return
        where, fault = _entry(adjacency, unequal), "a different weight"
    else:
        pattern = sp.csr_array((np.ones(adjacency.nnz, np.int8), adjacency.indices, adjacency.indptr), adjacency.shape)
        lonely = sp.csr_array(pattern - pattern.T)
        where, fault = _entry(lonely, lonely.data > 0), "no entry"
    raise InvalidData("adjacency of an undirected graph", "symmetric", f"{fault} mirroring {where}")


def _check_codes(matrix: Features, schema: Schema) -> None:
    counts = np.array([f.count if isinstance(f, Categories) else np.inf for f in schema.features])
    if np.isinf(counts).all():
        return
    if isinstance(matrix, np.ndarray):
        values, limit = matrix, counts[None, :]
    else:
        values, limit = matrix.data, counts[matrix.indices]
    bad = np.isfinite(limit) & ((values < 0) | (values >= limit) | (values != np.floor(values)))
    if bad.any():
        raise InvalidData(
            f"The feature at {_entry(matrix, bad)} is no category: codes go from 0 to the number of categories - 1."
        )


def _as_array(values: Any, dtype: Any, name: str, expected: str) -> NDArray[Any]:
    array = np.asarray(values)
    if not (np.issubdtype(array.dtype, np.number) or array.dtype == np.bool_) or np.iscomplexobj(array):
        raise InvalidData(name, expected, f"{array.dtype} values")
    return array.astype(dtype, copy=False)


def _first_duplicate(matrix: sp.csr_array) -> str:
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    position = int(np.argmax((np.diff(rows) == 0) & (np.diff(matrix.indices) == 0)))
    return f"row {rows[position]}, column {matrix.indices[position]}"


def _entry(matrix: Features, bad: NDArray[np.bool_]) -> str:
    """Say where the first marked stored entry stands."""
    position = int(np.argmax(bad))
    if isinstance(matrix, np.ndarray):
        row, column = divmod(position, matrix.shape[1])
    else:
        row = int(np.searchsorted(matrix.indptr, position, side="right")) - 1
        column = int(matrix.indices[position])
    return f"row {row}, column {column}"
