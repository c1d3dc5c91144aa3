"""The lines of a ledger, and what it says when it makes none."""

from __future__ import annotations

from dataclasses import dataclass

from privet.errors import PrivetError
from privet.privacy.rounding import at_most

__all__ = ["Entry", "NoRefund", "OtherNode", "OverLimit", "Refund", "Withdrawal"]


class OverLimit(PrivetError):
    """A study that would cost more than the owner allows in a lifetime."""

    def __init__(self, what: str, cost: float, spent: float, limit: float) -> None:
        left = max(0.0, limit - spent)
        super().__init__(
            f"This study costs {what} {at_most(cost)}, and {left:g} is left of your lifetime limit {limit:g}. "
            "No report was made."
        )


class OtherNode(PrivetError):
    """A study that this device has answered as another node."""

    def __init__(self, before: int, now: int) -> None:
        super().__init__(
            f"This device answered the study as node {before}, and not as node {now}: one person answers a study once."
        )
        self.before = before


class NoRefund(PrivetError):
    """A report whose cost stays, because it may have left the device."""


@dataclass(frozen=True)
class Entry:
    """A report that this device made.

    Attributes:
        study: The study's id.
        node: The number that its owner answered as.
        title: The study's title.
        cost: The epsilon that it cost.
        delta: The delta that it cost.
        made: When it was made, in seconds since 1970.
        tried: When it was first sent, whether it arrived or not; None if it never left the device.
        sent: When the collector acknowledged it; None if it has not.
        chain: The id of the study's first round.
        shows: True if it is a panel member's answers as they are: no budget can count that.
        withdrawn: When it was erased on its owner's demand; None if it was not. Its cost stays.
    """

    study: str
    node: int
    title: str
    cost: float
    delta: float
    made: int
    tried: int | None
    sent: int | None
    chain: str
    shows: bool
    withdrawn: int | None


@dataclass(frozen=True)
class Refund:
    """The cost of a report that was destroyed before it left the device.

    Attributes:
        study: The study's id.
        title: The study's title.
        cost: The epsilon that was given back.
        reason: Why the report was destroyed.
        at: When, in seconds since 1970.
    """

    study: str
    title: str
    cost: float
    reason: str
    at: int


@dataclass(frozen=True)
class Withdrawal:
    """The outcome of a withdrawal, for the reports of the study that its owner withdrew from.

    Attributes:
        charged: The epsilon that stays spent, because reports were sent and somebody has seen them.
        refunded: The epsilon of reports that were destroyed, because none of the study ever left the device.
    """

    charged: float
    refunded: float
