"""Exact audit: list every report, compare its probabilities under adjacent inputs, then run the program.

The probabilities are those that a mechanism states. Whether its program draws with them is a second question, which is
answered by drawing (:mod:`privet.auditing.local.drawing`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from privet.auditing.local.drawing import DRAWS, Drawn, draw
from privet.errors import InvalidParameter
from privet.mechanisms import Mechanism
from privet.mechanisms.core.base import Distribution
from privet.mechanisms.primitives.odds import exp_enclosure
from privet.privacy import Guarantee

__all__ = ["ClaimAudit", "Enumeration", "Listed", "audit", "audit_claim"]

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
    """The outcome of listing all reports under a claim, and of drawing some.

    Attributes:
        claim: The claimed epsilon.
        claimed_delta: The delta of the claim.
        stated_holds: True if the claim holds of the distributions that the mechanism states, in rational numbers.
        epsilon: The largest log likelihood ratio that was found (delta 0), as a figure for people.
        delta: The largest hockey-stick divergence at the claimed epsilon, as a figure for people.
        num_reports: The number of reports that were listed.
        num_pairs: The number of pairs of inputs.
        worst_pair: The inputs that are easiest to tell apart.
        worst_report: The report that tells them apart.
        drawn: The comparison of the program with what it states; None if it was not run.
    """

    claim: float
    claimed_delta: float
    stated_holds: bool
    epsilon: float
    delta: float
    num_reports: int
    num_pairs: int
    worst_pair: tuple[Any, Any]
    worst_report: Any
    drawn: Drawn | None = None

    @property
    def holds(self) -> bool:
        """True if the claim holds of what is stated, and the program was not seen to draw otherwise."""
        return self.stated_holds and (self.drawn is None or self.drawn.holds)


def audit(
    mechanism: Listed,
    claim: Guarantee | None = None,
    pairs: Iterable[tuple[Any, Any]] | None = None,
    *,
    draws: int = DRAWS,
) -> Enumeration:
    """Check a claim over all reports and adjacent pairs, and draw reports with the mechanism's own program.

    Pr[r | x] <= e^epsilon Pr[r | x'] for every report r; for delta > 0 the sum over r of
    max(0, Pr[r | x] - e^epsilon Pr[r | x']) is at most delta. These are the probabilities that the mechanism states;
    the reports that it draws are then compared with them (:func:`~privet.auditing.local.drawing.draw`).

    Args:
        mechanism: A mechanism with few enough reports to list, or several answers of one person, which are listed only.
        claim: The claim (default: the mechanism's own guarantee).
        pairs: Pairs of adjacent inputs (default: those that the mechanism names).
        draws: The reports to draw for each input (default 20,000); 0 believes what the mechanism states.
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
        raise InvalidParameter("claim", f"an epsilon of at most {_MAX_CLAIM}", claim.epsilon)
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
            allowed = factor * least
            if above > allowed:
                excess += above - allowed
            if below and not most:
                worst = None, (x, other), report
            elif worst[0] is not None and most and below / most > worst[0]:
                worst = below / most, (x, other), report
        largest_delta = max(largest_delta, excess)
        holds = holds and excess <= Fraction(claim.delta)
    if count == 0:
        raise InvalidParameter("An audit needs at least one pair of adjacent inputs.")
    drawn = draw(mechanism, draws=draws) if draws and isinstance(mechanism, Mechanism) else None
    return Enumeration(
        claim=claim.epsilon,
        claimed_delta=claim.delta,
        stated_holds=holds,
        epsilon=_log(worst[0]),
        delta=float(largest_delta),
        num_reports=num_reports,
        num_pairs=count,
        worst_pair=worst[1],
        worst_report=worst[2],
        drawn=drawn,
    )


def _distribution(mechanism: Listed, value: Any, cache: dict[str, Distribution]) -> Distribution:
    key = _key(value)
    if key not in cache:
        distribution = mechanism.exact_distribution(value)
        lower, upper = (sum(bounds[i] for bounds in distribution.values()) for i in (0, 1))
        if not lower <= 1 <= upper:
            raise ArithmeticError(f"The probabilities of {mechanism.name} sum to {float(upper)}, not to 1.")
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


@dataclass(frozen=True)
class ClaimAudit:
    """A claim about a mechanism, and what listing all its reports and drawing some showed.

    Attributes:
        mechanism: The mechanism that was audited.
        claim: "own", "published" or a number.
        found: The outcome.
    """

    mechanism: Mechanism
    claim: str
    found: Enumeration

    @property
    def broken(self) -> bool:
        """True if the claim is refuted."""
        return not self.found.holds

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; an unbounded epsilon is None."""
        found = self.found
        return {
            "mechanism": self.mechanism.name,
            "parameters": asdict(self.mechanism),
            "claim": self.claim,
            "claimed_epsilon": found.claim,
            "claimed_delta": found.claimed_delta,
            "enumerated_epsilon": found.epsilon if math.isfinite(found.epsilon) else None,
            "enumerated_delta": found.delta,
            "holds": found.holds,
            "drawn": None if found.drawn is None else found.drawn.to_dict(),
            "unit": str(self.mechanism.guarantee().unit),
            "reports": found.num_reports,
            "pairs": found.num_pairs,
            "worst_pair": [np.asarray(value).tolist() for value in found.worst_pair],
            "worst_report": repr(found.worst_report),
        }


def audit_claim(mechanism: Mechanism, claim: str = "own") -> ClaimAudit:
    """Check a claim by enumeration, and the program against what it states.

    Args:
        mechanism: A mechanism with few enough reports to list.
        claim: "own" (default), "published", or an epsilon as a number in text.
    """
    own = mechanism.guarantee()
    return ClaimAudit(mechanism, claim, audit(mechanism, replace(own, epsilon=_claimed(own, claim))))


def _claimed(own: Guarantee, claim: str) -> float:
    if claim == "own":
        return own.epsilon
    if claim == "published":
        if own.published_epsilon is None:
            raise InvalidParameter("claim", "'own' or a number for this mechanism", claim)
        return own.published_epsilon
    try:
        value = float(claim)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise InvalidParameter("claim", "'own', 'published' or a finite number of at least 0", claim)
    return value
