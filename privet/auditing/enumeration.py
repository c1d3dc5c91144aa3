"""Exact audit: list every report, compare its probabilities under adjacent inputs, believe nothing else."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from privet.errors import InvalidParameter
from privet.mechanisms.core.base import Distribution
from privet.mechanisms.primitives.odds import exp_enclosure
from privet.privacy import Guarantee

__all__ = ["Enumeration", "Listed", "audit"]

MAX_REPORTS = 1_000_000
MAX_COMPARISONS = 2_000_000
_MAX_CLAIM = 1000
_SMALLER = "Give it fewer features, classes or nodes, or a larger epsilon."


class Listed(Protocol):
    """Anything whose reports can be listed: a mechanism, or several answers of one person together."""

    @property
    def name(self) -> str:
        """The word for it."""

    @property
    def num_reports(self) -> int:
        """The number of different reports."""

    def guarantee(self) -> Guarantee:
        """Return what it promises."""

    def adjacent_pairs(self) -> Iterator[tuple[Any, Any]]:
        """Yield ordered pairs of adjacent values."""

    def exact_distribution(self, value: Any) -> Distribution:
        """Return each possible report with bounds of its probability."""


@dataclass(frozen=True)
class Enumeration:
    """The outcome of listing all reports under a claim.

    ``holds`` is decided in rational numbers. ``epsilon`` is the largest log likelihood ratio that was found (delta 0),
    and ``delta`` the largest hockey-stick divergence at the claimed epsilon, as floating-point figures for people.
    """

    claim: float
    claimed_delta: float
    holds: bool
    epsilon: float
    delta: float
    num_reports: int
    num_pairs: int
    worst_pair: tuple[Any, Any]
    worst_report: Any


def audit(
    mechanism: Listed,
    claim: Guarantee | None = None,
    pairs: Iterable[tuple[Any, Any]] | None = None,
) -> Enumeration:
    """Check ``claim`` (default: the mechanism's own guarantee) over all reports and the given adjacent pairs.

    Pr[r | x] <= e^epsilon Pr[r | x'] for every report r; for delta > 0 the sum over r of
    max(0, Pr[r | x] - e^epsilon Pr[r | x']) is at most delta.
    """
    claim = mechanism.guarantee() if claim is None else claim
    if mechanism.num_reports > MAX_REPORTS:
        found = f"{mechanism.num_reports:,}" if mechanism.num_reports < 10**15 else "more than 10^15"
        expected = f"small enough to list its reports (at most {MAX_REPORTS:,}); it has {found}"
        raise InvalidParameter(f"An audit needs a {type(mechanism).__name__} {expected}. {_SMALLER}")
    chosen = list(itertools.islice(pairs if pairs is not None else mechanism.adjacent_pairs(), MAX_COMPARISONS + 1))
    if len(chosen) * mechanism.num_reports > MAX_COMPARISONS:
        expected = f"small enough to compare its reports under all pairs (at most {MAX_COMPARISONS:,} comparisons)"
        found = f"it has {mechanism.num_reports:,} reports and {len(chosen):,} pairs"
        raise InvalidParameter(f"An audit needs a {type(mechanism).__name__} {expected}; {found}. {_SMALLER}")
    if claim.epsilon > _MAX_CLAIM:
        raise InvalidParameter("claim", "audit", f"an epsilon of at most {_MAX_CLAIM}", claim.epsilon)
    factor = exp_enclosure(Fraction(claim.epsilon))[0]
    cache: dict[str, Distribution] = {}
    worst: tuple[Fraction | None, tuple[Any, Any], Any] = Fraction(0), (None, None), None  # None: unbounded
    largest_delta, holds, count, num_reports = Fraction(0), True, 0, 0
    for x, other in chosen:
        numerator, denominator = (_distribution(mechanism, value, cache) for value in (x, other))
        count += 1
        num_reports = max(num_reports, len(numerator))
        excess = Fraction(0)
        for report, (below, above) in numerator.items():
            least, most = denominator.get(report, (Fraction(0),) * 2)
            excess += max(Fraction(0), above - factor * least)
            if below and not most:
                worst = None, (x, other), report
            elif worst[0] is not None and most and below / most > worst[0]:
                worst = below / most, (x, other), report
        largest_delta = max(largest_delta, excess)
        holds = holds and excess <= Fraction(claim.delta)
    if count == 0:
        raise InvalidParameter("pairs", "audit", "at least one pair of adjacent inputs", "none")
    return Enumeration(
        claim=claim.epsilon,
        claimed_delta=claim.delta,
        holds=holds,
        epsilon=_log(worst[0]),
        delta=float(largest_delta),
        num_reports=num_reports,
        num_pairs=count,
        worst_pair=worst[1],
        worst_report=worst[2],
    )


def _distribution(mechanism: Listed, value: Any, cache: dict[str, Distribution]) -> Distribution:
    key = _key(value)
    if key not in cache:
        distribution = mechanism.exact_distribution(value)
        lower, upper = (sum(bounds[i] for bounds in distribution.values()) for i in (0, 1))
        if not lower <= 1 <= upper:
            raise ArithmeticError(f"The probabilities of {mechanism.name} must sum to 1. Got {float(upper)} instead.")
        cache[key] = distribution
    return cache[key]


def _key(value: Any) -> str:
    """The value as a text, exactly: two values never share a distribution."""
    if isinstance(value, tuple):
        return " | ".join(_key(part) for part in value)
    dense = np.asarray(value.toarray() if sp.issparse(value) else value)
    return f"{dense.shape} {dense.dtype} {dense.tobytes().hex()}"


def _log(ratio: Fraction | None) -> float:
    """The logarithm of a likelihood ratio; None is a report that is impossible under the other input."""
    if ratio is None:
        return math.inf
    context = Context(prec=40)
    return float(context.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)).ln(context))
