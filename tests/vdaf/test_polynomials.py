"""Polynomials by their values at roots of unity, against interpolation with Python's integers."""

from __future__ import annotations

from random import Random

import pytest

from privet.vdaf.fields import FIELD64, FIELD128, Field
from privet.vdaf.gadgets import PairProducts, PolynomialOf
from privet.vdaf.polynomials import Roots, missing_values, power_of_two

FIELDS = pytest.mark.parametrize("field", [FIELD64, FIELD128], ids=["64", "128"])


def value(field: Field, coefficients: list[int], x: int) -> int:
    return sum(c * pow(x, i, field.modulus) for i, c in enumerate(coefficients)) % field.modulus


def at_roots(field: Field, coefficients: list[int], order: int) -> list[int]:
    return [value(field, coefficients, pow(field.root(order), i, field.modulus)) for i in range(order)]


def drawn(field: Field, count: int, random: Random) -> list[int]:
    return [random.randrange(field.modulus) for _ in range(count)]


def product(field: Field, p: list[int], q: list[int]) -> list[int]:
    found = [0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            found[i + j] = (found[i + j] + a * b) % field.modulus
    return found


@FIELDS
@pytest.mark.parametrize("order", [2, 4, 8, 32])
def test_a_polynomial_is_evaluated_anywhere(field: Field, order: int) -> None:
    random = Random(order)
    polynomials = [drawn(field, order, random) for _ in range(3)]
    points = [random.randrange(field.modulus), 0, field.root(order)]
    weights, useless = Roots(field, order).weights(field.of([x] for x in points))
    values = field.of(at_roots(field, p, order) for p in polynomials)
    found = field.dots(values, weights)
    assert [field.integers(row)[0] for row in found] == [
        value(field, p, x) for p, x in zip(polynomials, points, strict=True)
    ]
    assert useless.tolist() == [False, False, True]


@FIELDS
@pytest.mark.parametrize(("order", "factor"), [(2, 2), (2, 8), (8, 4), (16, 2)])
def test_values_at_more_roots(field: Field, order: int, factor: int) -> None:
    polynomial = drawn(field, order, Random(order * factor))
    found = Roots(field, order).finer(field.of([at_roots(field, polynomial, order)]), factor)
    assert field.integers(found[0]) == at_roots(field, polynomial, order * factor)


@FIELDS
@pytest.mark.parametrize(("known", "order"), [(3, 4), (7, 8), (5, 8), (10, 16), (1, 2)])
def test_missing_values_follow_from_the_known_ones(field: Field, known: int, order: int) -> None:
    polynomial = drawn(field, known, Random(known))
    values = at_roots(field, polynomial, order)
    rows = missing_values(field, known, order)
    given = field.of([values[:known]])
    found = [field.integers(field.dots(given, rows[i : i + 1])[0])[0] for i in range(order - known)]
    assert found == values[known:]


@FIELDS
@pytest.mark.parametrize(("pairs", "order"), [(1, 2), (3, 8), (2, 32)])
def test_products_of_pairs_of_polynomials(field: Field, pairs: int, order: int) -> None:
    random = Random(pairs)
    reports = [[drawn(field, order, random) for _ in range(2 * pairs)] for _ in range(2)]
    wires = field.of([x for p in report for x in at_roots(field, p, order)] for report in reports)
    found = PairProducts(pairs).of_polynomials(field, wires, order)
    for row, report in zip(found, reports, strict=True):
        products = [product(field, report[2 * i], report[2 * i + 1]) for i in range(pairs)]
        total = [sum(column) % field.modulus for column in zip(*products, strict=True)]
        assert field.integers(row) == at_roots(field, total, 2 * order)


@FIELDS
@pytest.mark.parametrize(("coefficients", "order"), [((0, -1, 1), 4), ((0, 2, -3, 1), 2), ((5, 0, 1, 2), 8)])
def test_a_polynomial_of_a_polynomial(field: Field, coefficients: tuple[int, ...], order: int) -> None:
    inner = drawn(field, order, Random(order))
    gadget = PolynomialOf(coefficients)
    found = gadget.of_polynomials(field, field.of([at_roots(field, inner, order)]), order)
    outer = power_of_two(gadget.degree * (order - 1) + 1)
    values = at_roots(field, inner, outer)
    assert field.integers(found[0]) == [value(field, list(coefficients), x) for x in values]


def test_powers_of_two() -> None:
    assert [power_of_two(n) for n in (1, 2, 3, 4, 5, 64, 65)] == [1, 2, 4, 4, 8, 64, 128]
