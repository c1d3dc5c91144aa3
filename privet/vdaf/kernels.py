"""Everything that is compiled: arithmetic of both fields, and loops over whole batches of reports.

A batch of vectors is a matrix with one row a report. An element of the 64-bit field is one word, so its matrix has two
dimensions; an element of the 128-bit field is two words (low, high), so its matrix has a third. That dimension alone
chooses the arithmetic: each loop is written once and compiled for both fields.

``times(x, y)`` wants ``y`` *prepared*: in Montgomery form for the 128-bit field, as it is for the 64-bit field. Data
stay as they travel and constants are prepared once, so most products cost one reduction. Sums and differences of
prepared numbers, and ``times`` of two of them, are prepared. No step branches on a value.

Compiled code is kept on disk beside this file and renewed when this file changes, so all of it lives here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numba
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

__all__ = [
    "add_rows",
    "cosets",
    "dots",
    "horner",
    "lagrange",
    "pair_products",
    "pair_sums",
    "prepare_rows",
    "range_wires",
    "subtract_rows",
    "total",
]

_U = numba.uint64
_PRIME = 2**64 - 2**32 + 1  # the 64-bit prime
_WRAP = 2**32 - 1  # 2^64 modulo the 64-bit prime
_HIGH = 2**64 - 28  # the 128-bit prime is 2^128 - 7 * 2^66 + 1: this word, then the word 1
_SQUARE = divmod(2**256 % (_HIGH * 2**64 + 1), 2**64)  # what brings a number into Montgomery form: high word, low word


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function at its first call; it releases the interpreter's lock while it runs."""
    try:
        return cast(Callable[..., Any], numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # there is no directory to keep compiled code in
        return cast(Callable[..., Any], numba.njit(nogil=True)(function))


def _wide_product(_typing: Any, x: Any, y: Any) -> Any:
    """Return the product of two words as (low word, high word)."""

    def build(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        word, double = ir.IntType(64), ir.IntType(128)
        product = builder.mul(builder.zext(words[0], double), builder.zext(words[1], double))
        high = builder.trunc(builder.lshr(product, ir.Constant(double, 64)), word)
        return context.make_tuple(builder, signature.return_type, (builder.trunc(product, word), high))

    pair: Any = types.UniTuple
    return pair(types.uint64, 2)(types.uint64, types.uint64), build


_wide: Any = intrinsic(_wide_product)


def _get(matrix: Any, row: Any, column: Any) -> Any: ...
def _put(matrix: Any, row: Any, column: Any, x: Any) -> Any: ...
def _plus(x: Any, y: Any) -> Any: ...
def _minus(x: Any, y: Any) -> Any: ...
def _times(x: Any, y: Any) -> Any: ...
def _prepared(x: Any) -> Any: ...


def _of_field(stub: Callable[..., Any], one_word: Callable[..., Any], two_words: Callable[..., Any]) -> None:
    """Let the type of the first argument, an element or a matrix of them, choose an operation's implementation."""

    def choose(first: Any, *_: Any) -> Callable[..., Any]:
        single = first.ndim == 2 if isinstance(first, types.Array) else isinstance(first, types.Integer)
        return one_word if single else two_words

    overload(stub, strict=False)(choose)


# The 64-bit field.


def _get1(matrix: Any, row: Any, column: Any) -> Any:
    return matrix[row, column]


def _put1(matrix: Any, row: Any, column: Any, x: Any) -> Any:
    matrix[row, column] = x


def _plus1(x: Any, y: Any) -> Any:
    total = x + y
    return total - _U(_PRIME) * (_U(total < x) | _U(total >= _U(_PRIME)))


def _minus1(x: Any, y: Any) -> Any:
    return x - y + _U(_PRIME) * _U(x < y)


def _times1(x: Any, y: Any) -> Any:
    low, high = _wide(x, y)  # 2^96 is -1 and 2^64 is 2^32 - 1
    top = high >> _U(32)
    less = low - top - _U(_WRAP) * _U(low < top)
    more = (high & _U(_WRAP)) * _U(_WRAP)
    total = less + more
    total += _U(_WRAP) * _U(total < more)
    return total - _U(_PRIME) * _U(total >= _U(_PRIME))


def _prepared1(x: Any) -> Any:
    return x


# The 128-bit field.


def _get2(matrix: Any, row: Any, column: Any) -> Any:
    return matrix[row, column, 0], matrix[row, column, 1]


def _put2(matrix: Any, row: Any, column: Any, x: Any) -> Any:
    matrix[row, column, 0] = x[0]
    matrix[row, column, 1] = x[1]


@compiled
def _sum_of_three(x: Any, y: Any, carry: Any) -> Any:
    """Return (x + y + carry) as (word, carry); the given carry is 0 or 1."""
    partial = x + y
    total = partial + carry
    return total, _U(partial < x) | _U(total < carry)


@compiled
def _within(low: Any, high: Any, over: Any) -> Any:
    """Subtract the 128-bit prime from over * 2^128 + high * 2^64 + low if that is not below it."""
    least = over | _U(high > _U(_HIGH)) | (_U(high == _U(_HIGH)) & _U(low >= _U(1)))
    borrow = _U(low < least)
    return low - least, high - least * _U(_HIGH) - borrow


def _plus2(x: Any, y: Any) -> Any:
    low, carry = _sum_of_three(x[0], y[0], _U(0))
    high, over = _sum_of_three(x[1], y[1], carry)
    return _within(low, high, over)


def _minus2(x: Any, y: Any) -> Any:
    low = x[0] - y[0]
    borrow = _U(x[0] < y[0])
    partial = x[1] - y[1]
    below = _U(x[1] < y[1]) | _U(partial < borrow)  # if so, add the prime
    low, carry = _sum_of_three(low, below, _U(0))
    return low, partial - borrow + below * _U(_HIGH) + carry


@compiled
def _reduced(first: Any, second: Any, third: Any) -> Any:
    """Add the multiple of the 128-bit prime that makes the first of three words 0; return the others and a carry."""
    low, high = _wide(_U(0) - first, _U(_HIGH))
    second, carry = _sum_of_three(second, low, _U(first != _U(0)))
    third, carry = _sum_of_three(third, high, carry)
    return second, third, carry


def _times2(x: Any, y: Any) -> Any:
    first, a = _wide(x[0], y[0])
    b, c = _wide(x[0], y[1])
    d, e = _wide(x[1], y[0])
    f, g = _wide(x[1], y[1])
    second, carry = _sum_of_three(a, b, _U(0))
    third, up = _sum_of_three(c, e, carry)
    second, carry = _sum_of_three(second, d, _U(0))
    third, more = _sum_of_three(third, f, carry)
    fourth = g + up + more
    second, third, carry = _reduced(first, second, third)
    fourth, over = _sum_of_three(fourth, carry, _U(0))
    third, fourth, carry = _reduced(second, third, fourth)
    return _within(third, fourth, over | carry)


def _prepared2(x: Any) -> Any:
    return _times(x, (_U(_SQUARE[1]), _U(_SQUARE[0])))


_of_field(_get, _get1, _get2)
_of_field(_put, _put1, _put2)
_of_field(_plus, _plus1, _plus2)
_of_field(_minus, _minus1, _minus2)
_of_field(_times, _times1, _times2)
_of_field(_prepared, _prepared1, _prepared2)


# Loops over batches. Every matrix has one row a report; a table of constants has one row.


@compiled
def add_rows(x: Any, y: Any, out: Any) -> None:
    """Write x + y, element by element."""
    for b in range(out.shape[0]):
        for i in range(out.shape[1]):
            _put(out, b, i, _plus(_get(x, b, i), _get(y, b, i)))


@compiled
def subtract_rows(x: Any, y: Any, out: Any) -> None:
    """Write x - y, element by element."""
    for b in range(out.shape[0]):
        for i in range(out.shape[1]):
            _put(out, b, i, _minus(_get(x, b, i), _get(y, b, i)))


@compiled
def prepare_rows(x: Any, out: Any) -> None:
    """Write x prepared, element by element."""
    for b in range(out.shape[0]):
        for i in range(out.shape[1]):
            _put(out, b, i, _prepared(_get(x, b, i)))


@compiled
def total(rows: Any, out: Any) -> None:
    """Add all rows to the one row of ``out``."""
    for b in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            _put(out, 0, i, _plus(_get(out, 0, i), _get(rows, b, i)))


@compiled
def dots(vectors: Any, weights: Any, out: Any) -> None:
    """Write the inner products of each row's vectors, one after the other, with that row of prepared weights.

    ``weights`` has a row for each report, or one for all of them.
    """
    length = weights.shape[1]
    for b in range(out.shape[0]):
        row = b % weights.shape[0]
        for v in range(out.shape[1]):
            x = _times(_get(vectors, b, v * length), _get(weights, row, 0))
            for i in range(1, length):
                x = _plus(x, _times(_get(vectors, b, v * length + i), _get(weights, row, i)))
            _put(out, b, v, x)


@compiled
def horner(coefficients: Any, points: Any, out: Any) -> None:
    """Write the value at each point of a polynomial, whose last coefficient comes first."""
    for b in range(out.shape[0]):
        for i in range(out.shape[1]):
            x = _get(coefficients, 0, 0)
            point = _prepared(_get(points, b, i))
            for c in range(1, coefficients.shape[1]):
                x = _plus(_times(x, point), _get(coefficients, 0, c))
            _put(out, b, i, x)


@compiled
def lagrange(points: Any, nodes: Any, scaled: Any, out: Any, products: Any) -> None:
    """Write the prepared weights that evaluate, at each row's point, a polynomial given by its values at the nodes.

    The weight of node w among n roots of unity is w / n times the product of (point - v) over all other nodes v: no
    division, so that any point will do. ``products`` gets the product over all nodes, which is 0 at a node.

    Args:
        points: One point a row.
        nodes: The nodes, prepared.
        scaled: Each node divided by their number, prepared.
    """
    n = nodes.shape[1]
    for b in range(out.shape[0]):
        point = _prepared(_get(points, b, 0))
        before = _get(scaled, 0, 0)
        before = _minus(before, before)
        for i in range(n):  # 1 / n times the product over earlier nodes, then over later ones
            if i == 0:
                before = _times(_get(scaled, 0, 0), _get(nodes, 0, 0))
            else:
                before = _times(before, _minus(point, _get(nodes, 0, i - 1)))
            _put(out, b, i, before)
        after = _get(nodes, 0, 0)  # the first node is 1
        for i in range(n - 1, -1, -1):
            weight = _times(_times(_get(out, b, i), after), _get(nodes, 0, i))
            _put(out, b, i, weight)
            after = _times(after, _minus(point, _get(nodes, 0, i)))
        _put(products, b, 0, after)


@compiled
def _move(values: Any, inverse: Any, twist: Any, forward: Any) -> None:
    """Turn a polynomial's values at the p-th roots of unity into its values at those roots times a shift.

    The transform to coefficients leaves them in bit-reversed order, in which ``twist`` multiplies each by a power of
    the shift over p, and from which the second transform starts.
    """
    p = values.shape[1]
    half = p // 2
    while half >= 1:
        step = p // (2 * half)
        for start in range(0, p, 2 * half):
            for i in range(half):
                x, y = _get(values, 0, start + i), _get(values, 0, start + i + half)
                _put(values, 0, start + i, _plus(x, y))
                _put(values, 0, start + i + half, _times(_minus(x, y), _get(inverse, 0, i * step)))
        half //= 2
    for i in range(p):
        _put(values, 0, i, _times(_get(values, 0, i), _get(twist, 0, i)))
    half = 1
    while half < p:
        step = p // (2 * half)
        for start in range(0, p, 2 * half):
            for i in range(half):
                x = _get(values, 0, start + i)
                y = _times(_get(values, 0, start + i + half), _get(forward, 0, i * step))
                _put(values, 0, start + i, _plus(x, y))
                _put(values, 0, start + i + half, _minus(x, y))
        half *= 2


@compiled
def _copy(matrix: Any, row: Any, start: Any, scratch: Any) -> None:
    for i in range(scratch.shape[1]):
        _put(scratch, 0, i, _get(matrix, row, start + i))


@compiled
def cosets(values: Any, inverse: Any, twists: Any, forward: Any, scratch: Any, out: Any) -> None:
    """Write the values of polynomials, given at the p-th roots of unity, at the roots of a multiple of p.

    ``twists`` has one table for each shift but the first, which is 1.
    """
    p = values.shape[1]
    factor = out.shape[1] // p
    for b in range(out.shape[0]):
        for i in range(p):
            _put(out, b, i * factor, _get(values, b, i))
        for shift in range(1, factor):
            _copy(values, b, 0, scratch)
            _move(scratch, inverse, twists[shift - 1 : shift], forward)
            for i in range(p):
                _put(out, b, i * factor + shift, _get(scratch, 0, i))


@compiled
def pair_products(wires: Any, inverse: Any, twist: Any, forward: Any, left: Any, right: Any, out: Any) -> None:
    """Add to ``out`` the products of pairs of polynomials, at the roots of twice their number of values.

    ``left`` and ``right`` are scratch space for one polynomial each.
    """
    p = left.shape[1]
    for b in range(out.shape[0]):
        for pair in range(wires.shape[1] // (2 * p)):
            start = 2 * p * pair
            for i in range(p):
                x = _times(_get(wires, b, start + i), _get(wires, b, start + p + i))
                _put(out, b, 2 * i, _plus(_get(out, b, 2 * i), x))
            _copy(wires, b, start, left)
            _copy(wires, b, start + p, right)
            _move(left, inverse, twist, forward)
            _move(right, inverse, twist, forward)
            for i in range(p):
                x = _times(_get(left, 0, i), _get(right, 0, i))
                _put(out, b, 2 * i + 1, _plus(_get(out, b, 2 * i + 1), x))
        for i in range(2 * p):
            _put(out, b, i, _prepared(_get(out, b, i)))


@compiled
def pair_sums(inputs: Any, out: Any) -> None:
    """Write each row's sum of products of the first and second, third and fourth element, and so on."""
    for b in range(out.shape[0]):
        x = _times(_get(inputs, b, 0), _get(inputs, b, 1))
        for i in range(2, inputs.shape[1], 2):
            x = _plus(x, _times(_get(inputs, b, i), _get(inputs, b, i + 1)))
        _put(out, b, 0, _prepared(x))


@compiled
def range_wires(bits: Any, challenges: Any, shift: Any, seeds: Any, out: Any) -> None:
    """Write the wires that check elements for being 0 or 1, a chunk of them at each call of the gadget.

    Element x number j of a chunk with challenge r becomes the pair (r^(j + 1) x, x - shift). Each wire is a row of
    values, the first of them its seed. ``out`` is zeros before.
    """
    chunk, calls, wires = seeds.shape[1] // 2, challenges.shape[1], seeds.shape[1]
    p = out.shape[1] // wires
    zero = _minus(_get(shift, 0, 0), _get(shift, 0, 0))
    for b in range(out.shape[0]):
        for wire in range(wires):
            _put(out, b, wire * p, _get(seeds, b, wire))
        for call in range(calls):
            challenge = _prepared(_get(challenges, b, call))
            power = challenge
            for j in range(chunk):
                x = zero
                if call * chunk + j < bits.shape[1]:
                    x = _get(bits, b, call * chunk + j)
                _put(out, b, 2 * j * p + call + 1, _times(x, power))
                _put(out, b, (2 * j + 1) * p + call + 1, _minus(x, _get(shift, 0, 0)))
                power = _times(power, challenge)
