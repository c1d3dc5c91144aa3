"""Lines of a privacy budget: one for each thing that is randomised."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from privet.privacy.guarantee import Guarantee

__all__ = ["LedgerLine"]


@dataclass(frozen=True)
class LedgerLine:
    """One part of a total budget.

    Attributes:
        part: The thing that is randomised, in words.
        unit: The unit that the part's guarantee protects.
        mechanism: The name of the randomiser.
        epsilon: The part's own epsilon.
        delta: The part's own delta.
        how: A clause that tells a person how the mechanism randomises.
    """

    part: str
    unit: str
    mechanism: str
    epsilon: float
    delta: float = 0.0
    how: str = ""

    @classmethod
    def of(cls, part: str, mechanism: str, guarantee: Guarantee, how: str = "") -> LedgerLine:
        """Make the line of a part that has a guarantee of its own."""
        return cls(part, str(guarantee.unit), mechanism, guarantee.epsilon, guarantee.delta, how)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)
