"""The price of answers: one object computes it, and whatever states a price reads it here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add

from privet.privacy import Guarantee, Unit, joint
from privet.privacy.guarantee import ADJACENCY, sum_up
from privet.privacy.ledger import LedgerLine
from privet.release.asks import Ask
from privet.release.question import Question

__all__ = ["Aggregate", "Price"]

_WIDE = {Unit.FRIEND_LIST, Unit.PERSON}
_IN_COMMON = {
    Unit.PERSON: (Unit.FEATURES, Unit.NEIGHBOUR_BIT),
    Unit.FRIEND_LIST: (Unit.NEIGHBOUR_BIT,),
    Unit.RELATIONSHIP: (Unit.NEIGHBOUR_BIT,),
}
"""What an answer about a wide unit and one about single relationships both protect."""


@dataclass(frozen=True)
class Aggregate:
    """Noisy sums over people, by an aggregator whom they trust with their data or by two servers.

    Attributes:
        part: The name of the line in a budget.
        mechanism: The noise in words.
        how: A clause that tells a person what happens.
        promise: What holds of the noisy sums, towards everybody but the aggregator, or but both servers together.
    """

    part: str
    mechanism: str
    how: str
    promise: Guarantee

    def line(self) -> LedgerLine:
        """Return the line in a budget."""
        return LedgerLine.of(self.part, self.mechanism, self.promise, self.how)


@dataclass(frozen=True)
class Price:
    """The price that one person pays for some answers: for each thing that they are about, and for all together.

    Formal guarantee: the epsilons of one device's answers add (sequential composition). Of questions of which a person,
    or a pair of people, answers one only, the dearest counts. A relationship counts at both its ends, also where a
    question is meant for one of them: no device can check what the device at the other end is asked. A promise about a
    wider unit, such as everything on the device, holds for all that it covers (:meth:`bound`).

    Attributes:
        questions: The questions that are answered.
        aggregated: Noisy sums over the same people.
    """

    questions: tuple[Question, ...]
    aggregated: tuple[Aggregate, ...] = ()

    @cached_property
    def parts(self) -> tuple[Guarantee, ...]:
        """The promise about each unit, in the order in which they are asked about."""
        promises = [_dearest([question.guarantee() for question in same]) for same in self._alternatives()]
        promises += [each.promise for each in self.aggregated]
        models = [each.promise.model for each in self.aggregated]
        trusted = "hybrid" if "hybrid" in models else next(iter(models), None)
        by_unit: dict[str, list[Guarantee]] = {}
        for promise in promises:
            model = trusted or promise.model
            by_unit.setdefault(promise.unit, []).append(replace(promise, model=model))
        return tuple(reduce(add, same) for same in by_unit.values())

    @cached_property
    def whole(self) -> Guarantee:
        """The promise about all units together.

        Beside an answer about everything on a device, or about its whole list, single relationships may be asked for.
        Of these nothing bounds how many, so that nothing bounds the whole list: both promises then hold together of
        features and of one bit of the list, which both cover.
        """
        if not self.parts:
            return Guarantee.local(Unit.FEATURES, 0.0)
        if len(self.parts) == 1:
            return self.parts[0]
        whole, units = joint(*self.parts), [Unit(part.unit) for part in self.parts]
        if Unit.RELATIONSHIP not in units or not _WIDE & set(units):
            return whole
        kept = tuple(dict.fromkeys(each for unit in units for each in _IN_COMMON.get(unit, (unit,))))
        return replace(whole, unit=" and ".join(kept), adjacency="; and ".join(ADJACENCY[each] for each in kept))

    def bound(self, unit: Unit) -> float:
        """Return the largest privacy loss of one unit, whether it is asked about by itself or as part of a wider one.

        Infinite for whole lists, and for people, of whom single relationships are asked for: nothing bounds how many.

        Args:
            unit: The unit.
        """
        told = math.inf if unit in _WIDE else 0.0
        found = []
        for part in self.parts:
            if part.unit == Unit.RELATIONSHIP:  # each end of it says as much as one bit of one list
                found.append({Unit.RELATIONSHIP: part.epsilon, Unit.NEIGHBOUR_BIT: part.epsilon / 2}.get(unit, told))
            elif unit is Unit.RELATIONSHIP:
                found.append(part.relationship_epsilon or 0.0)
            elif Unit(part.unit).covers(unit) or unit.covers(Unit(part.unit)):
                found.append(part.epsilon)
        return sum_up(found) if all(map(math.isfinite, found)) else math.inf

    @property
    def epsilon(self) -> float:
        """The epsilon of all answers together: what a device charges its owner's lifetime budget."""
        return self.whole.epsilon

    @property
    def delta(self) -> float:
        """The delta of all answers together."""
        return self.whole.delta

    def lines(self) -> tuple[LedgerLine, ...]:
        """Return one line of the budget for each question and each aggregate."""
        return (*(question.line() for question in self.questions), *(each.line() for each in self.aggregated))

    def _alternatives(self) -> Iterable[Sequence[Question]]:
        """Group the questions of which one is charged: of a person, or of a pair, only one is answered."""
        groups: list[list[Question]] = []
        for question in self.questions:
            rivals = [same for same in groups if all(_exclusive(question.ask, each.ask) for each in same)]
            rivals[0].append(question) if rivals else groups.append([question])
        return groups


def _exclusive(one: Ask, other: Ask) -> bool:
    """Tell whether nobody, or no pair, is in the answers to both; only promises about one unit can be compared."""
    return one.unit == other.unit and any(
        a.name in (*b.instead_of, *b.other_pairs_than) for a, b in ((one, other), (other, one))
    )


def _dearest(promises: list[Guarantee]) -> Guarantee:
    """Return the promise that covers whichever of some questions is answered."""
    prices = [each.relationship_epsilon for each in promises if each.relationship_epsilon is not None]
    return replace(
        max(promises, key=lambda each: each.epsilon),
        delta=max(each.delta for each in promises),
        unprotected=tuple(dict.fromkeys(text for each in promises for text in each.unprotected)),
        relationship_epsilon=max(prices, default=None),
    )
