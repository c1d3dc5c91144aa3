"""A hash tree over the rows of a table: each person can check their own row without seeing anybody else's.

leaf i = SHA-256(0 | i as uint32 | salt i | row i as int16), parent = SHA-256(1 | left | right), little-endian; the last
node of a level with an odd count moves up unchanged. The number of rows is public, so a proof has one shape only. A row
has few possible values, and a proof contains a neighbour's leaf: salt i, 16 bytes that only person i is sent, keeps the
neighbour's row from being found by trying. The salts are the output of SHAKE-256 on the table's own salt, in order.
"""

from __future__ import annotations

import hmac
import re
from hashlib import sha256, shake_256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidData

__all__ = ["HashTree", "tree_root", "verify_row"]


_HASH, _SALT = re.compile("[0-9a-f]{64}"), re.compile("[0-9a-f]{32}")
_SIZE = 16  # bytes of a row's salt


class HashTree:
    """The levels of a tree, from which proofs are read.

    Args:
        rows: One row of small integers for each person.
        salt: The table's salt, which makes everybody's; without one, rows can be guessed from a proof.
    """

    def __init__(self, rows: NDArray[np.integer[Any]], salt: bytes = b"") -> None:
        self._salts = shake_256(salt).digest(_SIZE * len(rows))
        table = np.empty((len(rows), 5 + _SIZE + 2 * rows.shape[1]), dtype=np.uint8)
        table[:, 0] = 0
        table[:, 1:5] = np.arange(len(rows), dtype="<u4")[:, None].view(np.uint8)
        table[:, 5 : 5 + _SIZE] = np.frombuffer(self._salts, dtype=np.uint8).reshape(-1, _SIZE)
        table[:, 5 + _SIZE :] = np.ascontiguousarray(rows, dtype="<i2").view(np.uint8)
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

    def salt(self, row: int) -> str:
        """Return the salt of a row, in hexadecimal."""
        return self._salts[_SIZE * row : _SIZE * (row + 1)].hex()

    def proof(self, row: int) -> list[str]:
        """Return the siblings of a row's nodes from the leaf upwards, in hexadecimal."""
        found = []
        for level in self._levels[:-1]:
            sibling = level[32 * (row ^ 1) : 32 * (row ^ 1) + 32]
            found += [sibling.hex()] if sibling else []
            row //= 2
        return found


def tree_root(rows: NDArray[np.integer[Any]], salt: bytes = b"") -> str:
    """Return the root of the tree over the rows of a table, as manifests write it.

    Args:
        rows: One row of small integers for each person.
        salt: The table's salt.
    """
    return HashTree(rows, salt).root


def verify_row(root: str, count: int, number: int, row: NDArray[np.integer[Any]], salt: str, proof: list[str]) -> None:
    """Refuse a row that is not row ``number`` of the table of ``count`` rows with this root.

    Args:
        root: The root that the manifest names.
        count: The number of rows of the table.
        number: The place of the row.
        salt: What :meth:`HashTree.salt` returned.
        proof: What :meth:`HashTree.proof` returned.
    """
    if not (isinstance(salt, str) and _SALT.fullmatch(salt)):
        raise InvalidData("The salt of your row of a public table must be 32 hexadecimal digits.")
    if not all(isinstance(each, str) and _HASH.fullmatch(each) for each in proof):
        raise InvalidData("The proof of your row of a public table must be a list of hashes.")
    head = b"\0" + np.array(number, "<u4").tobytes() + bytes.fromhex(salt)
    node = sha256(head + np.asarray(row).astype("<i2").tobytes()).digest()
    left, place = list(proof), number
    while count > 1:
        if place ^ 1 < count:
            sibling = bytes.fromhex(left.pop(0)) if left else b""
            node = sha256(b"\1" + (sibling + node if place & 1 else node + sibling)).digest()
        place, count = place // 2, (count + 1) // 2
    if left or not hmac.compare_digest(f"tree:{node.hex()}", root):
        raise InvalidData("Your row of a public table is not the one that the manifest of the study binds.")
