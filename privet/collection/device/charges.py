"""Charges for a round: the lines of a ledger, the price that is left to pay, and the reasons to refuse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from privet.collection.study.chain import Chain
from privet.errors import PrivetError
from privet.privacy.rounding import at_most
from privet.release import Ask, LocalRelease

__all__ = [
    "Charge",
    "Entry",
    "NoRefund",
    "NotAsked",
    "OtherNode",
    "OverLimit",
    "Refund",
    "Refusal",
    "Withdrawal",
    "charge",
]


class Refusal(PrivetError):
    """The device does not take part, and says why."""


class NotAsked(Refusal):
    """The owner is not among those whom a round asks; nothing is wrong."""


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


@dataclass(frozen=True)
class Charge:
    """The charge for a round.

    Attributes:
        together: All its owner's answers to the study's rounds, this one among them.
        epsilon: What is left of their price after what was charged before.
        delta: The same of delta.
    """

    together: LocalRelease
    epsilon: float
    delta: float


def charge(chain: Chain, entries: Sequence[Entry], *, shows: bool = False) -> Charge:
    """Return the charge for answering the newest round of a study.

    Args:
        chain: The rounds of the study.
        entries: What the device has answered, in this study and in others.
        shows: True if the owner shows answers as they are, which no budget counts.
    """
    before = _before(chain, entries)
    if shows:
        return Charge(chain.joint([]), 0.0, 0.0)
    answered = [entry.study for entry in before if not entry.shows]
    _refuse_alternatives(chain, answered)
    together = chain.joint([*answered, chain.newest.id])
    epsilon = _rest(together.price.epsilon, [entry.cost for entry in before])
    return Charge(together, epsilon, _rest(together.price.delta, [entry.delta for entry in before]))


def _before(chain: Chain, entries: Sequence[Entry]) -> list[Entry]:
    """Return the answers to other rounds of a study; rounds that are not the chain's are of another branch."""
    newest, rounds = chain.newest, {each.id for each in chain.rounds}
    found = [entry for entry in entries if entry.chain == newest.chain and entry.study != newest.id]
    if any(entry.study not in rounds for entry in found):
        raise Refusal(
            f"You have answered another round of '{newest.title}' that this one does not follow: somebody may try to "
            "ask you twice. Nothing was made."
        )
    return found


def _refuse_alternatives(chain: Chain, answered: list[str]) -> None:
    """Refuse a question that takes the place of one that was answered: only one of them was paid for."""
    before = chain.joint(answered)
    for question in chain.newest.release.questions:
        twice = next((each.name for each in before.questions if _are_alternatives(each.ask, question.ask)), None)
        if twice is not None:
            raise Refusal(
                f"You have answered '{twice}' in an earlier round, and whoever did is not asked '{question.name}'. "
                "Nothing was made."
            )


def _are_alternatives(one: Ask, other: Ask) -> bool:
    return one.name in other.instead_of or other.name in one.instead_of


def _rest(price: float, charged: list[float]) -> float:
    """Return what is left of a price, rounded up; never below 0."""
    exact = max(Fraction(0), Fraction(price) - sum(map(Fraction, charged), Fraction(0)))
    found = float(exact)
    return found if Fraction(found) >= exact else math.nextafter(found, math.inf)
