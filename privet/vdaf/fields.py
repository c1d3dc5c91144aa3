"""The two prime fields, and batches of vectors over them.

A batch is a matrix with one row a report: (reports, elements) for the 64-bit field and (reports, elements, 2) for the
128-bit one, in words of 64 bits, the low one first. Elements stand as they travel, so reading and writing them is free.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidData
from privet.vdaf import kernels

__all__ = ["FIELD64", "FIELD128", "Bytes", "Elements", "Field", "rowwise"]

Elements = NDArray[np.uint64]
"""A batch of vectors over a field."""
Bytes = NDArray[np.uint8]
"""A batch of messages of one length, one row a report."""


@dataclass(frozen=True)
class Field:
    """A prime field whose multiplicative group has a large subgroup of a power of two.

    Attributes:
        modulus: The prime.
        words: Words of 64 bits in an element, 1 or 2.
        generator: A generator of the subgroup of order 2^``two_adicity``.
        two_adicity: The subgroup's order is two to this power.
    """

    modulus: int
    words: int
    generator: int
    two_adicity: int

    @property
    def size(self) -> int:
        """The bytes of an encoded element."""
        return 8 * self.words

    def root(self, order: int) -> int:
        """Return the root of unity of an order that is a power of two."""
        return pow(self.generator, 2**self.two_adicity // order, self.modulus)

    # Matrices.

    def zeros(self, rows: int, length: int) -> Elements:
        """Return a matrix of zeros."""
        return np.zeros((rows, length, 2) if self.words == 2 else (rows, length), np.uint64)

    def of(self, numbers: Iterable[Iterable[int]]) -> Elements:
        """Return a matrix of integers of any size and sign, taken modulo the prime.

        Args:
            numbers: One iterable of integers a row.
        """
        rows = [[int(x) % self.modulus for x in row] for row in numbers]
        encoded = b"".join(x.to_bytes(self.size, "little") for row in rows for x in row)
        return self.decode(np.frombuffer(encoded, np.uint8).reshape(len(rows), -1))

    def of_small(self, numbers: NDArray[np.int64]) -> Elements:
        """Return a matrix of integers from 0 to 2^63 - 1, at once."""
        found = self.zeros(*numbers.shape)
        (found[..., 0] if self.words == 2 else found)[...] = numbers.astype(np.uint64)
        return found

    def integers(self, row: Elements) -> list[int]:
        """Return a vector's elements as integers from 0 to the prime less 1."""
        encoded = self.encode(row[None])[0].tobytes()
        return [int.from_bytes(encoded[i : i + self.size], "little") for i in range(0, len(encoded), self.size)]

    def encode(self, elements: Elements) -> Bytes:
        """Return the bytes of a matrix, little-endian, element after element."""
        rows, length = elements.shape[:2]
        return np.frombuffer(np.ascontiguousarray(elements, "<u8").tobytes(), np.uint8).reshape(
            rows, length * self.size
        )

    def decode(self, encoded: Bytes) -> Elements:
        """Return the elements that bytes stand for, also those that :meth:`overflows` finds.

        Args:
            encoded: Messages whose length is a multiple of the size of an element.
        """
        rows, length = encoded.shape
        elements = np.ascontiguousarray(encoded).view("<u8").astype(np.uint64)
        return elements.reshape((rows, length // self.size, 2) if self.words == 2 else (rows, length // self.size))

    def overflows(self, elements: Elements) -> NDArray[np.bool_]:
        """Tell which elements are not below the prime."""
        high, low = (np.uint64(word) for word in divmod(self.modulus, 2**64))
        if self.words == 1:
            found: NDArray[np.bool_] = elements >= low
        else:
            found = (elements[..., 1] > high) | ((elements[..., 1] == high) & (elements[..., 0] >= low))
        return found

    def is_zero(self, column: Elements) -> NDArray[np.bool_]:
        """Tell which of one element a report are 0."""
        found: NDArray[np.bool_] = (column == 0).all(axis=tuple(range(1, column.ndim)))
        return found

    # Arithmetic.

    def add(self, x: Elements, y: Elements) -> Elements:
        """Return x + y, element by element."""
        out = self.zeros(*x.shape[:2])
        kernels.add_rows(*rowwise(x, y), out)
        return out

    def subtract(self, x: Elements, y: Elements) -> Elements:
        """Return x - y, element by element."""
        out = self.zeros(*x.shape[:2])
        kernels.subtract_rows(*rowwise(x, y), out)
        return out

    def total(self, rows: Elements) -> Elements:
        """Return the sum of all rows, as a matrix of one row."""
        out = self.zeros(1, rows.shape[1])
        kernels.total(*rowwise(rows), out)
        return out

    def prepared(self, x: Elements) -> Elements:
        """Return constants in the form that :meth:`dots` wants as weights."""
        out = self.zeros(*x.shape[:2])
        kernels.prepare_rows(*rowwise(x), out)
        return out

    def weights(self, constants: tuple[int, ...]) -> Elements:
        """Return a row of constants, prepared."""
        return _weights(self, constants)

    def dots(self, vectors: Elements, weights: Elements) -> Elements:
        """Return the inner products of each row's vectors, one after the other, with prepared weights.

        Args:
            vectors: A whole number of vectors a row.
            weights: A row of weights for each report, or one for all.
        """
        out = self.zeros(len(vectors), vectors.shape[1] // weights.shape[1])
        kernels.dots(*rowwise(vectors, weights), out)
        return out

    def read(self, messages: Sequence[bytes], length: int, what: str) -> Elements:
        """Return the vectors that messages hold, and refuse what is none.

        Args:
            messages: Encoded vectors.
            length: The elements of each.
            what: Their name in the error, such as "aggregate share".
        """
        if any(len(message) != length * self.size for message in messages):
            raise InvalidData(f"The {what} does not have the {length * self.size} bytes of {length} numbers.")
        elements = self.decode(np.frombuffer(b"".join(messages), np.uint8).reshape(len(messages), -1))
        if self.overflows(elements).any():
            raise InvalidData(f"The {what} holds a number that is not below the field's prime.")
        return elements


def rowwise(*matrices: Elements) -> tuple[Elements, ...]:
    """Return matrices whose rows lie one after the other in memory, as kernels are compiled for."""
    return tuple(map(np.ascontiguousarray, matrices))


@cache
def _weights(field: Field, constants: tuple[int, ...]) -> Elements:
    return field.prepared(field.of([constants]))


FIELD64 = Field(2**64 - 2**32 + 1, 1, pow(7, 2**32 - 1, 2**64 - 2**32 + 1), 32)
FIELD128 = Field(2**128 - 7 * 2**66 + 1, 2, pow(7, 2**62 - 7, 2**128 - 7 * 2**66 + 1), 66)
