"""A hash tree over the rows of a table: each person can check their own row without seeing anybody else's.

leaf i = SHA-256(0 | i as uint32 | row i as int16), parent = SHA-256(1 | left | right), little-endian; the last node of
a level with an odd count moves up unchanged. The number of rows is public, so a proof has one shape only.
"""

from __future__ import annotations

import hmac
import re
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidData

__all__ = ["HashTree", "tree_root", "verify_row"]


_HASH = re.compile("[0-9a-f]{64}")


class HashTree:
    """The levels of a tree, from which proofs are read.

    Args:
        rows: One row of small integers for each person.
    """

    def __init__(self, rows: NDArray[np.integer[Any]]) -> None:
        table = np.empty((len(rows), 5 + 2 * rows.shape[1]), dtype=np.uint8)
        table[:, 0] = 0
        table[:, 1:5] = np.arange(len(rows), dtype="<u4")[:, None].view(np.uint8)
        table[:, 5:] = np.ascontiguousarray(rows, dtype="<i2").view(np.uint8)
        size, content = table.shape[1], memoryview(table.tobytes())
        # A hash for each person is the price of a proof for each person; numpy has none, so this loop is Python's.
        level = b"".join(sha256(content[start : start + size]).digest() for start in range(0, len(content), size))
        self._levels = [level]
        while len(level) > 32:
            pairs = range(0, len(level) - 32, 64)
            rest = level[-32:] if len(level) % 64 else b""
            level = b"".join(sha256(b"\1" + level[start : start + 64]).digest() for start in pairs) + rest
            self._levels.append(level)

    @property
    def root(self) -> str:
        """The root as manifests write it."""
        return "tree:" + (self._levels[-1] or sha256(b"").digest()).hex()

    def proof(self, row: int) -> list[str]:
        """Return the siblings of a row's nodes from the leaf upwards, in hexadecimal."""
        found = []
        for level in self._levels[:-1]:
            sibling = level[32 * (row ^ 1) : 32 * (row ^ 1) + 32]
            found += [sibling.hex()] if sibling else []
            row //= 2
        return found


def tree_root(rows: NDArray[np.integer[Any]]) -> str:
    """Return the root of the tree over the rows of a table, as manifests write it."""
    return HashTree(rows).root


def verify_row(root: str, count: int, number: int, row: NDArray[np.integer[Any]], proof: list[str]) -> None:
    """Refuse a row that is not row ``number`` of the table of ``count`` rows with this root.

    Args:
        root: The root that the manifest names.
        count: The number of rows of the table.
        number: The place of the row.
        row: The row.
        proof: What :meth:`HashTree.proof` returned.
    """
    if not all(isinstance(each, str) and _HASH.fullmatch(each) for each in proof):
        raise InvalidData("proof of your row of a public table", "a list of hashes", "others")
    node = sha256(b"\0" + np.array(number, "<u4").tobytes() + np.asarray(row).astype("<i2").tobytes()).digest()
    left, place = list(proof), number
    while count > 1:
        if place ^ 1 < count:
            sibling = bytes.fromhex(left.pop(0)) if left else b""
            node = sha256(b"\1" + (sibling + node if place & 1 else node + sibling)).digest()
        place, count = place // 2, (count + 1) // 2
    if left or not hmac.compare_digest(f"tree:{node.hex()}", root):
        raise InvalidData("your row of a public table", "the one that the study's manifest binds", "another")
