"""Field arithmetic against Python's integers, at the edges of words and primes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import InvalidData
from privet.vdaf.fields import FIELD64, FIELD128, Field

FIELDS = pytest.mark.parametrize("field", [FIELD64, FIELD128], ids=["64", "128"])


def elements(field: Field) -> st.SearchStrategy[int]:
    edges = [0, 1, 2, 2**32 - 1, 2**32, 2**63, 2**64 - 29, 2**64 - 28, 2**64 - 1, 2**64, 2**127, field.modulus // 2]
    near = [edge for each in edges for edge in (each, field.modulus - 1 - each) if 0 <= edge < field.modulus]
    return st.one_of(st.sampled_from(near), st.integers(0, field.modulus - 1))


@FIELDS
@given(data=st.data())
def test_sums_differences_and_products_are_those_of_integers(field: Field, data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.tuples(elements(field), elements(field)), min_size=1, max_size=40))
    x, y = (field.of([column]) for column in zip(*pairs, strict=True))
    p = field.modulus
    assert field.integers(field.add(x, y)[0]) == [(a + b) % p for a, b in pairs]
    assert field.integers(field.subtract(x, y)[0]) == [(a - b) % p for a, b in pairs]
    assert field.integers(field.dots(x, field.prepared(y))[0]) == [sum(a * b for a, b in pairs) % p]
    singles = field.dots(field.of([a] for a, _ in pairs), field.prepared(field.of([b] for _, b in pairs)))
    assert [field.integers(row)[0] for row in singles] == [a * b % p for a, b in pairs]


@FIELDS
def test_products_of_edges(field: Field) -> None:
    words = [0, 1, 2, 27, 28, 29, 2**32 - 1, 2**32, 2**63, 2**64 - 29, 2**64 - 28, 2**64 - 1]
    edges = [
        a + b * 2**64 for a in words for b in (words if field.words == 2 else [0]) if a + b * 2**64 < field.modulus
    ]
    left, right = zip(*((a, b) for a in edges for b in edges), strict=True)
    found = field.dots(field.of([a] for a in left), field.prepared(field.of([b] for b in right)))
    assert [field.integers(row)[0] for row in found] == [
        a * b % field.modulus for a, b in zip(left, right, strict=True)
    ]


@FIELDS
def test_totals_wrap_around_the_prime(field: Field) -> None:
    rows = [[field.modulus - 1, 1], [2, field.modulus - 1], [5, 7]]
    assert field.integers(field.total(field.of(rows))[0]) == [6, 7]
    assert field.integers(field.total(field.zeros(0, 2))[0]) == [0, 0]


@FIELDS
def test_bytes_are_little_endian_and_back(field: Field) -> None:
    numbers = [[1, field.modulus - 1], [-1, 256]]
    encoded = field.encode(field.of(numbers))
    assert encoded.tobytes() == b"".join(
        (x % field.modulus).to_bytes(field.size, "little") for row in numbers for x in row
    )
    assert (field.decode(encoded) == field.of(numbers)).all()


@FIELDS
def test_what_is_not_below_the_prime_is_found(field: Field) -> None:
    values = [field.modulus - 1, field.modulus, field.modulus + 1, 2 ** (8 * field.size) - 1, 0]
    encoded = b"".join(value.to_bytes(field.size, "little") for value in values)
    found = field.overflows(field.decode(np.frombuffer(encoded, np.uint8)[None]))
    assert found.tolist() == [[False, True, True, True, False]]
    with pytest.raises(InvalidData, match="The share holds a number that is not below the field's prime"):
        field.read([encoded], 5, "share")
    with pytest.raises(InvalidData, match=f"The share does not have the {4 * field.size} bytes of 4 numbers"):
        field.read([encoded], 4, "share")


@FIELDS
def test_roots_have_their_order(field: Field) -> None:
    for order in (2, 4, 64):
        root = field.root(order)
        assert pow(root, order, field.modulus) == 1
        assert pow(root, order // 2, field.modulus) == field.modulus - 1
