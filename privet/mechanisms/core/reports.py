"""Reports: symbols of a finite alphabet, and nothing else, leave a device.

What is stored, sent on the wire and fed to the server is the same object.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.errors import InvalidReports

__all__ = ["NeighbourReports", "Reports"]

_HEADER = struct.Struct("<4sBBBBQQQ")
_MAGIC = b"pvt1"
_SYMBOL_TYPES = (np.dtype("<i1"), np.dtype("<i2"), np.dtype("<i4"), np.dtype("<i8"))


@dataclass(frozen=True, eq=False)
class Reports:
    """N users' symbols for m of ``dimension`` coordinates each.

    ``indices`` (N x m, ascending in each row) says which coordinates; it is None when each user reports all of them.
    """

    dimension: int
    symbols: NDArray[np.signedinteger]
    indices: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        if self.symbols.ndim != 2 or self.symbols.dtype.newbyteorder("<") not in _SYMBOL_TYPES:
            found = f"{self.symbols.dtype} of {self.symbols.ndim} dimensions"
            raise InvalidReports("report symbols", "a matrix of signed integers", found)
        if self.indices is None:
            if self.symbols.shape[1] != self.dimension:
                raise InvalidReports("reports", f"{self.dimension} symbols wide", self.symbols.shape[1])
            return
        if self.indices.shape != self.symbols.shape or self.indices.dtype != np.int32:
            raise InvalidReports("report indices", "int32 of the symbols' shape", self.indices.shape)
        inside = (self.indices >= 0) & (self.indices < self.dimension)
        ascending = np.ones_like(inside)
        ascending[:, 1:] = self.indices[:, 1:] > self.indices[:, :-1]
        wrong = ~(inside & ascending).all(axis=1)
        if wrong.any():
            raise InvalidReports(
                f"Row {int(np.argmax(wrong))} of the indices must be ascending coordinates in [0, {self.dimension})."
            )

    def __len__(self) -> int:
        return int(self.symbols.shape[0])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reports) and self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    @property
    def coordinates(self) -> NDArray[np.int32]:
        """Which coordinate each symbol is about, N x m."""
        if self.indices is not None:
            return self.indices
        return np.broadcast_to(np.arange(self.dimension, dtype=np.int32), self.symbols.shape)

    def take(self, users: NDArray[np.integer]) -> Reports:
        """The reports of some users, in the order given."""
        return Reports(self.dimension, self.symbols[users], None if self.indices is None else self.indices[users])

    def with_rows(self, rows: NDArray[np.integer], others: Reports) -> Reports:
        """Exchange some rows for other reports."""
        symbols = self.symbols.copy()
        symbols[rows] = others.symbols
        if self.indices is None or others.indices is None:
            return Reports(self.dimension, symbols)
        indices = self.indices.copy()
        indices[rows] = others.indices
        return Reports(self.dimension, symbols, indices)

    def to_sparse(self) -> sp.csr_array:
        """The symbols as an N x d sparse matrix; a coordinate that was not reported is not stored."""
        users, count = self.symbols.shape
        starts = np.arange(users + 1, dtype=np.int64) * count
        stored = self.symbols.ravel().astype(np.float32 if self.symbols.itemsize <= 2 else np.float64)
        return sp.csr_array((stored, self.coordinates.ravel(), starts), shape=(users, self.dimension))

    def to_bytes(self) -> bytes:
        """A canonical packed form: the same reports always give the same bytes."""
        symbols = np.ascontiguousarray(self.symbols, dtype=self.symbols.dtype.newbyteorder("<"))
        sampled = self.indices is not None
        header = _HEADER.pack(_MAGIC, 0, _SYMBOL_TYPES.index(symbols.dtype), sampled, 0, *symbols.shape, self.dimension)
        body = np.ascontiguousarray(self.indices, dtype="<i4").tobytes() if sampled else b""
        return header + body + symbols.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Reports:
        """Read what :meth:`to_bytes` wrote; anything else is an InvalidReports error."""
        kind, code, sampled, users, count, dimension = _read_header(data)
        plausible = 1 <= count <= dimension < 1 << 31 and users <= len(data)
        if kind != 0 or code >= len(_SYMBOL_TYPES) or sampled > 1 or not plausible:
            raise InvalidReports("report header", "that of symbol reports", data[: _HEADER.size].hex())
        dtype = _SYMBOL_TYPES[code]
        size = users * count
        expected = _HEADER.size + size * (dtype.itemsize + 4 * sampled)
        if len(data) != expected:
            raise InvalidReports("report", f"{expected} bytes long", len(data))
        indices = None
        if sampled:
            indices = np.frombuffer(data, "<i4", size, _HEADER.size).reshape(users, count).astype(np.int32)
        symbols = np.frombuffer(data, dtype, size, _HEADER.size + 4 * size * sampled).reshape(users, count)
        return cls(dimension, symbols.astype(dtype.newbyteorder("=")), indices)


@dataclass(frozen=True, eq=False)
class NeighbourReports:
    """Each user's reported neighbours, as CSR without values: row i lists what user ``users[i]`` reported.

    ``users`` is None when row i is user i. That a user reports once is for the collector to see to.
    """

    num_nodes: int
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    users: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        rows = len(self.indptr) - 1
        # Compared and not subtracted: differences of hostile pointers wrap around.
        falls = (self.indptr[1:] < self.indptr[:-1]).any()
        if rows < 0 or self.indptr[0] != 0 or self.indptr[-1] != len(self.indices) or falls:
            raise InvalidReports("The row starts of neighbour reports are no CSR index pointer.")
        if self.users is None and rows != self.num_nodes:
            raise InvalidReports("neighbour reports", f"one list for each of {self.num_nodes} nodes", f"{rows} lists")
        if self.users is not None and (
            self.users.shape != (rows,) or (rows and not 0 <= self.users.min() <= self.users.max() < self.num_nodes)
        ):
            raise InvalidReports(
                f"The users of these neighbour reports must be {rows} node ids below {self.num_nodes}."
            )
        if self.users is not None and np.array_equal(self.users, np.arange(self.num_nodes)):
            object.__setattr__(self, "users", None)
        row = np.repeat(np.arange(rows), np.diff(self.indptr))
        ids = np.arange(rows) if self.users is None else self.users
        descends = np.zeros(len(self.indices), dtype=bool)
        descends[1:] = (row[1:] == row[:-1]) & (self.indices[1:] <= self.indices[:-1])
        outside = (self.indices < 0) | (self.indices >= self.num_nodes) | (self.indices == ids[row])
        wrong = outside | descends
        if wrong.any():
            raise InvalidReports(
                f"Row {int(row[np.argmax(wrong)])} must list ascending ids of other nodes below {self.num_nodes}."
            )

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NeighbourReports) and self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def take(self, users: NDArray[np.integer]) -> NeighbourReports:
        """The lists in some rows, in the order given."""
        picked = self.to_sparse()[users]
        ids = np.asarray(users, dtype=np.int64) if self.users is None else self.users[users]
        return NeighbourReports(self.num_nodes, picked.indptr.astype(np.int64), picked.indices.astype(np.int32), ids)

    def with_rows(self, rows: NDArray[np.integer], others: NeighbourReports) -> NeighbourReports:
        """Exchange some rows for other people's lists; the senders stay who they are."""
        order = np.arange(len(self))
        order[rows] = len(self) + np.arange(len(others))
        both = sp.csr_array(sp.vstack([self.to_sparse(), others.to_sparse()], format="csr")[order])
        return NeighbourReports(self.num_nodes, both.indptr.astype(np.int64), both.indices.astype(np.int32), self.users)

    def to_sparse(self) -> sp.csr_array:
        """The reported bits as a sparse 0/1 matrix."""
        ones = np.ones(len(self.indices), dtype=np.float32)
        return sp.csr_array((ones, self.indices, self.indptr), shape=(len(self), self.num_nodes))

    def to_bytes(self) -> bytes:
        """A canonical packed form: the same reports always give the same bytes."""
        named = self.users is not None
        header = _HEADER.pack(_MAGIC, 1, 0, named, 0, len(self), len(self.indices), self.num_nodes)
        ids = np.ascontiguousarray(self.users, dtype="<i8").tobytes() if named else b""
        lists = np.ascontiguousarray(self.indptr, dtype="<i8").tobytes()
        return header + ids + lists + np.ascontiguousarray(self.indices, dtype="<i4").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> NeighbourReports:
        """Read what :meth:`to_bytes` wrote; anything else is an InvalidReports error."""
        kind, code, named, rows, size, num_nodes = _read_header(data)
        if kind != 1 or code != 0 or named > 1 or num_nodes >= 1 << 31 or max(rows, size) > len(data):
            raise InvalidReports("report header", "that of neighbour reports", data[: _HEADER.size].hex())
        expected = _HEADER.size + 8 * rows * named + 8 * (rows + 1) + 4 * size
        if len(data) != expected:
            raise InvalidReports("report", f"{expected} bytes long", len(data))
        offset = _HEADER.size
        users = np.frombuffer(data, "<i8", rows, offset).astype(np.int64) if named else None
        offset += 8 * rows * named
        indptr = np.frombuffer(data, "<i8", rows + 1, offset).astype(np.int64)
        indices = np.frombuffer(data, "<i4", size, offset + 8 * (rows + 1)).astype(np.int32)
        return cls(num_nodes, indptr, indices, users)


def _read_header(data: bytes) -> tuple[int, int, int, int, int, int]:
    if len(data) < _HEADER.size or data[:4] != _MAGIC:
        raise InvalidReports("report", f"a packed report that begins with {_MAGIC!r}", data[:8])
    _, kind, code, flag, zero, rows, count, dimension = _HEADER.unpack_from(data)
    if zero != 0:
        raise InvalidReports("report header", "zero in its reserved byte", zero)
    return kind, code, flag, rows, count, dimension
