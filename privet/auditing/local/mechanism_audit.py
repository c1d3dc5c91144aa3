"""Audits of a claim about a mechanism: its own guarantee, a paper's, or any epsilon."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from privet.auditing.local.enumeration import Enumeration, audit
from privet.errors import InvalidParameter
from privet.mechanisms import Mechanism
from privet.privacy import Guarantee

__all__ = ["ClaimAudit", "audit_claim"]


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
