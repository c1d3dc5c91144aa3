"""Integers from 0 to a bound as zeros and ones: weights 1, 2, 4 and so on, and a last one that makes up the bound."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidData, InvalidParameter
from privet.vdaf.fields import Elements, Field

__all__ = ["bits_of", "must_be_positive", "weights_for", "whole_numbers", "without_bits"]


def must_be_positive(**parameters: int) -> None:
    """Refuse a circuit's parameters that are no positive 63-bit integers."""
    for name, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**63:
            raise InvalidParameter(name, "a whole number from 1 to 2^63 - 1", value)


def whole_numbers(measurements: Any, width: int | None, most: int) -> NDArray[np.int64]:
    """Return measurements as a matrix, and refuse what is out of range.

    Args:
        measurements: One number a report, or one sequence of numbers.
        width: The numbers of a sequence; None for single numbers.
        most: The largest allowed number.
    """
    try:
        found = np.asarray(measurements)
    except ValueError:  # sequences of different lengths
        raise InvalidData(f"Each measurement must be a list of {width} whole numbers.") from None
    if len(found) == 0:
        return np.zeros((0, width or 1), np.int64)
    if found.ndim != (1 if width is None else 2) or (width is not None and found.shape[1] != width):
        wanted = "one whole number" if width is None else f"a list of {width} whole numbers"
        raise InvalidData(f"Each measurement must be {wanted}.")
    if found.dtype.kind not in "biu":
        raise InvalidData("Measurements must be whole numbers; round them before they are shared.")
    outside = (found < 0) | (found > most)
    if outside.any():
        where = int(np.flatnonzero(outside.reshape(len(found), -1).any(axis=1))[0])
        raise InvalidData(f"Measurement {where} has a number outside 0 to {most}.")
    return found.astype(np.int64).reshape(len(found), width or 1)


def weights_for(most: int) -> tuple[int, ...]:
    """Return the weights of the bits, whose sum is the bound.

    Args:
        most: The bound, at least 1.
    """
    low = most.bit_length() - 1
    return (*(2**i for i in range(low)), most - (2**low - 1))


def bits_of(numbers: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return the bits of numbers, those of each number together.

    Args:
        numbers: A matrix of numbers from 0 to the bound.
        most: The bound.
    """
    *low, last = weights_for(most)
    over = numbers >= 2 ** len(low)
    rest = numbers - last * over
    bits = [*((rest >> i) & 1 for i in range(len(low))), over.astype(np.int64)]
    return np.stack(bits, axis=-1).reshape(len(numbers), numbers.shape[1] * len(bits))


def without_bits(field: Field, bits: Elements, most: int) -> Elements:
    """Return the numbers, or shares of them, that bits stand for."""
    return field.dots(bits, field.weights(weights_for(most)))
