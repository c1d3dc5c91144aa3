"""The hash tree over people's rows, against the definition of the protocol."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest

from privet.errors import InvalidData
from privet.release.tree import HashTree, tree_root, verify_row

SALT = bytes(range(16))


def rows_of(count: int, width: int = 3) -> np.ndarray:
    return np.random.default_rng(count).integers(-1, 300, (count, width)).astype(np.int16)


def leaf(number: int, row: Any, salt: bytes = SALT) -> bytes:
    cells = b"".join(int(cell).to_bytes(2, "little", signed=True) for cell in row)
    own = hashlib.shake_256(salt).digest(16 * number + 16)[-16:]
    return hashlib.sha256(b"\x00" + number.to_bytes(4, "little") + own + cells).digest()


def slow_root(nodes: list[bytes]) -> bytes:
    if len(nodes) == 1:
        return nodes[0]
    above = [hashlib.sha256(b"\x01" + a + b).digest() for a, b in zip(nodes[::2], nodes[1::2], strict=False)]
    return slow_root(above + ([nodes[-1]] if len(nodes) % 2 else []))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 13, 64, 100])
def test_every_row_has_a_proof(count: int) -> None:
    rows = rows_of(count)
    tree = HashTree(rows, SALT)
    assert tree.root == tree_root(rows, SALT) == "tree:" + slow_root([leaf(*each) for each in enumerate(rows)]).hex()
    for number, row in enumerate(rows):
        verify_row(tree.root, count, number, row, tree.salt(number), tree.proof(number))


@pytest.mark.parametrize("number", [0, 5, 11, 12])
def test_nothing_else_has_one(number: int) -> None:
    rows = rows_of(13)
    tree = HashTree(rows, SALT)
    proof, other = tree.proof(number), rows[number].copy()
    other[1] += 1
    cases: list[tuple[Any, int, int, list[Any]]] = [
        (other, number, 13, proof),
        (rows[number], (number + 1) % 13, 13, proof),
        (rows[number], number, 26, proof),
        (rows[number], number, 13, [proof[1], proof[0], *proof[2:]]),
        (rows[number], number, 13, [*proof, proof[0]]),
        (rows[number], number, 13, proof[:-1]),
        (rows[number], number, 13, [proof[0].upper() + " ", *proof[1:]]),
        (rows[number], number, 13, [proof[0][:-2], *proof[1:]]),
        (rows[number], number, 13, [None, *proof[1:]]),
    ]
    for row, place, count, siblings in cases:
        with pytest.raises(InvalidData):
            verify_row(tree.root, count, place, row, tree.salt(number), siblings)
    for salt in (tree.salt((number + 1) % 13), tree.salt(number)[:-2], tree.salt(number).upper() + " ", None):
        with pytest.raises(InvalidData):
            verify_row(tree.root, 13, number, rows[number], salt, proof)  # type: ignore[arg-type]


def test_a_proof_does_not_tell_the_neighbours_row() -> None:
    """Who tries all possible rows, without a salt, finds the neighbour's in the proof."""
    table = np.array([[row] for row in (3, 0, 2, 1)], dtype=np.int16)

    def neighbours(tree: HashTree, salt: bytes) -> list[int]:
        return [row for row in range(4) if leaf(1, [row], salt).hex() == tree.proof(0)[0]]

    assert neighbours(HashTree(table), b"") == [0]
    sealed = HashTree(table, SALT)
    assert neighbours(sealed, b"") == neighbours(sealed, bytes.fromhex(sealed.salt(0))) == []
    assert neighbours(sealed, SALT) == [0]  # only who has the whole table


def test_an_inner_node_is_no_leaf() -> None:
    """Two children that are given as one row: the first byte of what is hashed keeps them apart."""
    rows = rows_of(2)
    children = leaf(0, rows[0]) + leaf(1, rows[1])
    number, salt, forged = int.from_bytes(children[:4], "little"), children[4:20].hex(), children[20:]
    with pytest.raises(InvalidData, match="binds"):
        verify_row(tree_root(rows, SALT), 1, number, np.frombuffer(forged, dtype="<i2"), salt, [])
