"""The variants of Prio3 that the draft names, and their numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from privet.errors import InvalidParameter, MissingParameter, UnknownParameter
from privet.vdaf.circuits import Count, HigherDegree, Histogram, MultihotCountVec, Sum, SumVec
from privet.vdaf.fields import FIELD64
from privet.vdaf.prio3 import Prio3

__all__ = ["VARIANTS", "variant"]

_PRIVATE = 0xFFFFFFFF  # the number of instances that the draft tests and does not name


def count(shares: int = 2) -> Prio3:
    """Return Prio3Count: how many reports are 1."""
    return Prio3(1, Count(), shares)


def sum_(max_measurement: int, shares: int = 2) -> Prio3:
    """Return Prio3Sum: the sum of integers from 0 to a bound."""
    return Prio3(2, Sum(max_measurement), shares)


def sum_vec(length: int, max_measurement: int, chunk_length: int, shares: int = 2) -> Prio3:
    """Return Prio3SumVec: the sum of vectors of integers from 0 to a bound."""
    return Prio3(3, SumVec(length, max_measurement, chunk_length), shares)


def histogram(length: int, chunk_length: int, shares: int = 2) -> Prio3:
    """Return Prio3Histogram: how many reports name each bucket."""
    return Prio3(4, Histogram(length, chunk_length), shares)


def multihot_count_vec(length: int, max_weight: int, chunk_length: int, shares: int = 2) -> Prio3:
    """Return Prio3MultihotCountVec: how many reports have a 1 at each place, of at most so many ones a report."""
    return Prio3(5, MultihotCountVec(length, max_weight, chunk_length), shares)


def sum_vec_with_multiproof(
    length: int, max_measurement: int, chunk_length: int, shares: int = 2, proofs: int = 3
) -> Prio3:
    """Return Prio3SumVecWithMultiproof: SumVec in the 64-bit field, with several proofs a report; an experiment."""
    return Prio3(_PRIVATE, SumVec(length, max_measurement, chunk_length, FIELD64), shares, proofs)


def higher_degree(shares: int = 2) -> Prio3:
    """Return Prio3HigherDegree: a test."""
    return Prio3(_PRIVATE, HigherDegree(), shares)


VARIANTS: dict[str, Callable[..., Prio3]] = {
    "Prio3Count": count,
    "Prio3Sum": sum_,
    "Prio3SumVec": sum_vec,
    "Prio3SumVecWithMultiproof": sum_vec_with_multiproof,
    "Prio3Histogram": histogram,
    "Prio3MultihotCountVec": multihot_count_vec,
    "Prio3HigherDegree": higher_degree,
}
"""The variants by their names in the draft."""


def variant(name: str, **parameters: int) -> Prio3:
    """Return a variant by its name in the draft.

    Args:
        name: Such as "Prio3Histogram".
        parameters: Its parameters, such as ``length``.

    Raises:
        InvalidParameter: If there is no such variant, or if its parameters are others.

    >>> variant("Prio3Histogram", length=5, chunk_length=2).circuit
    Histogram(length=5, chunk_length=2)
    """
    if name not in VARIANTS:
        raise InvalidParameter("circuit", f"one of {', '.join(VARIANTS)}", name)
    known = inspect.signature(VARIANTS[name]).parameters
    for parameter in parameters:
        if parameter not in known:
            raise UnknownParameter(parameter, name, list(known))
    for parameter, each in known.items():
        if each.default is each.empty and parameter not in parameters:
            raise MissingParameter(parameter, name)
    return VARIANTS[name](**parameters)
