"""Polynomials given by their values at roots of unity: moved to more roots, extended, and evaluated anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from privet.vdaf import kernels
from privet.vdaf.fields import Elements, Field, rowwise

__all__ = ["Roots", "missing_values", "power_of_two"]


def power_of_two(least: int) -> int:
    """Return the smallest power of two that is not below a positive number."""
    return 1 << (least - 1).bit_length()


@dataclass(frozen=True)
class Roots:
    """The roots of unity of one order, and what follows from the values of polynomials at them.

    Attributes:
        field: The field.
        order: The number of roots p, a power of two.
    """

    field: Field
    order: int

    def weights(self, points: Elements) -> tuple[Elements, NDArray[np.bool_]]:
        """Return the weights that evaluate polynomials at points, and which points are themselves roots.

        Args:
            points: One point a report.

        Returns:
            Weights for :meth:`Field.dots`, one row a report, and one truth value a report.
        """
        nodes, scaled = _nodes(self.field, self.order)
        found, products = self.field.zeros(len(points), self.order), self.field.zeros(len(points), 1)
        kernels.lagrange(*rowwise(points), nodes, scaled, found, products)
        return found, self.field.is_zero(products)

    def finer(self, values: Elements, factor: int) -> Elements:
        """Return the values of one polynomial a report at the roots of a larger order.

        Args:
            values: Values at the p roots.
            factor: How many times as many roots, a power of two.
        """
        inverse, twists, forward = _tables(self.field, self.order, factor)
        out = self.field.zeros(len(values), self.order * factor)
        kernels.cosets(*rowwise(values), inverse, twists, forward, self.field.zeros(1, self.order), out)
        return out

    def pair_products(self, wires: Elements) -> Elements:
        """Return the sum over pairs of polynomials of their products, at 2 p roots.

        Args:
            wires: The values of the first and second polynomial, of the third and fourth, and so on.
        """
        inverse, twists, forward = _tables(self.field, self.order, 2)
        out = self.field.zeros(len(wires), 2 * self.order)
        left, right = self.field.zeros(1, self.order), self.field.zeros(1, self.order)
        kernels.pair_products(*rowwise(wires), inverse, twists, forward, left, right, out)
        return out


@cache
def _nodes(field: Field, order: int) -> tuple[Elements, Elements]:
    """Return the roots, and each root over their number, prepared."""
    root, part = field.root(order), pow(order, -1, field.modulus)
    powers = [pow(root, i, field.modulus) for i in range(order)]
    return field.prepared(field.of([powers])), field.prepared(field.of([[part * power for power in powers]]))


@cache
def _tables(field: Field, order: int, factor: int) -> tuple[Elements, Elements, Elements]:
    """Return the tables of a transform, and one of shifts for each coset but the first, prepared."""
    modulus, root, shift = field.modulus, field.root(order), field.root(order * factor)
    half, bits, part = max(order // 2, 1), order.bit_length() - 1, pow(order, -1, field.modulus)
    reversed_ = [int(f"{i:0{bits}b}"[::-1], 2) if bits else 0 for i in range(order)]
    twists = [[part * pow(shift, coset * i, modulus) for i in reversed_] for coset in range(1, factor)]
    inverse, forward = ([[pow(base, i, modulus) for i in range(half)]] for base in (pow(root, -1, modulus), root))
    return field.prepared(field.of(inverse)), field.prepared(field.of(twists)), field.prepared(field.of(forward))


@cache
def missing_values(field: Field, known: int, order: int) -> Elements:
    """Return weights that extend a polynomial's first values at roots of unity to the others.

    A polynomial with as many coefficients as known values is decided by them. Its value at root x is the sum over known
    roots v of value(v) times -v / x times the product of (v - u) / (x - u) over all missing roots u but x.

    Args:
        field: The field.
        known: The number of known values.
        order: The number of roots, more than ``known``.

    Returns:
        Prepared weights, one row a missing value.
    """
    modulus, root = field.modulus, field.root(order)
    nodes = [pow(root, i, modulus) for i in range(order)]

    def apart(v: int, x: int) -> int:
        return prod((v - u) % modulus for u in nodes[known:] if u != x) % modulus

    rows = []
    for x in nodes[known:]:
        scale = pow(-x * apart(x, x), -1, modulus)
        rows.append([v * apart(v, x) * scale for v in nodes[:known]])
    return field.prepared(field.of(rows))
