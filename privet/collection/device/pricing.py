"""The price of a round for a device that may have answered others: nothing twice, and nothing for nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from privet.collection.device.entries import Entry
from privet.collection.device.refusal import Refusal
from privet.collection.study.chain import Chain
from privet.release import Ask, LocalRelease

__all__ = ["Charge", "charge"]


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
