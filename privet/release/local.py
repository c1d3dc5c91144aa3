"""A local release: the questions that devices answer, and everything that follows from them alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import Bits
from privet.privacy import Guarantee, Unit
from privet.privacy.delta import delta_warning
from privet.privacy.ledger import LedgerLine
from privet.release.answers import Answer, Answers
from privet.release.price import Aggregate, Price
from privet.release.private import PrivateData
from privet.release.question import Question
from privet.release.wire import WireForm

__all__ = ["LocalRelease"]


@dataclass(frozen=True)
class LocalRelease:
    """Everything that leaves the devices of a population.

    Simulation, system, manifest, device and collector use this object.

    Formal guarantee: :meth:`guarantee` holds for everything that is sent about one person, against everybody else,
    whatever the server does with it (:class:`~privet.release.price.Price`).

    Attributes:
        questions: The questions, each of a different name, in the order in which a device answers. A release without
            any asks nobody for anything.
        population: The public facts that they depend on.
        disclosed: Sentences on private fields that are public all the same, such as those of a panel that shows them.
        aggregated: Noisy sums over the same people, by a trusted aggregator or by two servers; their price is added.
        exempt: People whom the promise does not cover, such as a panel that shows its data.
        hidden: Units that nobody knows although these questions are not about them: other rounds of a study may be.
    """

    questions: tuple[Question, ...]
    population: Population
    disclosed: tuple[str, ...] = ()
    aggregated: tuple[Aggregate, ...] = ()
    exempt: tuple[str, ...] = ()
    hidden: frozenset[Unit] = frozenset()

    def __post_init__(self) -> None:
        names = [question.name for question in self.questions]
        if len(set(names)) < len(names):
            raise InvalidParameter("questions", "different ones, each asked once", names)

    def question(self, name: str) -> Question:
        """Return the question of a name; another name is an error that lists those that are asked."""
        found = {question.name: question for question in self.questions}
        if name not in found:
            raise InvalidParameter("name", f"one of {', '.join(found)}", name)
        return found[name]

    def asks(self, name: str) -> bool:
        """Tell whether a question is asked."""
        return any(question.name == name for question in self.questions)

    def asks_about(self, unit: Unit) -> bool:
        """Tell whether a question is about a unit of privacy: what it protects must then not be handed out as it is."""
        return any(question.ask.unit.covers(unit) for question in self.questions)

    @cached_property
    def price(self) -> Price:
        """The price of answering everything."""
        return Price(self.questions, self.aggregated)

    def guarantee(self) -> Guarantee:
        """Return the promise about all answers of one person together, and what it leaves open."""
        whole = self.price.whole
        risk = delta_warning(whole.delta, self.population.num_nodes)
        unprotected = (*whole.unprotected, *self.disclosed, *self._known(), *risk)
        return replace(whole, unprotected=unprotected, exempt=self.exempt)

    def _known(self) -> list[str]:
        """List the private fields that are not asked for, since the operator knows them already."""
        known = []
        if self.population.classes and not self._private(Unit.LABEL):
            known.append("the classes of training and validation nodes, which the operator knows")
        if not self._private(Unit.NEIGHBOUR_BIT):
            known.append("who is linked with whom, which the operator knows")
        return known

    def _private(self, unit: Unit) -> bool:
        return unit in self.hidden or self.asks_about(unit)

    def sealed(self) -> LocalRelease:
        """Return this release with new salts for the public arrays of its questions."""
        return replace(self, questions=tuple(replace(each, ask=each.ask.sealed()) for each in self.questions))

    def attach(self, arrays: Mapping[str, NDArray[Any] | bytes]) -> LocalRelease:
        """Return this release with the public arrays of its questions.

        Args:
            arrays: The arrays, or their blobs, by the digests that the questions declare; what is not there stays a
                digest.
        """
        ready = []
        for question in self.questions:
            ask = question.ask
            declared = {name: getattr(ask, name) for name in ask.attachments()}
            found = {name: arrays[value] for name, value in declared.items() if _is_in(value, arrays)}
            ready.append(replace(question, ask=ask.attach(**found)))
        return replace(self, questions=tuple(ready))

    def lines(self) -> tuple[LedgerLine, ...]:
        """Return one line of the budget for each question and each aggregate."""
        return self.price.lines()

    def perturb(
        self, private: PrivateData, bits: Bits, asked: Mapping[str, NDArray[np.int64]] | None = None
    ) -> Answers:
        """Answer on the devices: the only code that reads private data.

        Args:
            private: The raw values of some people; one row on a real device.
            bits: The source of randomness.
            asked: The rows of ``private`` that are asked a question, by its name; everybody by default.
        """
        parts, chosen = {}, asked or {}
        users = {q.name: private.users[chosen[q.name]] if q.name in chosen else private.users for q in self.questions}
        self.check_once(users)
        for question in self.questions:
            rows = chosen.get(question.name)
            some = private if rows is None else private.take(rows)
            parts[question.name] = Answer(some.users, question.perturb(some, bits))
        return Answers(self, parts)

    def check_once(self, users: Mapping[str, NDArray[np.int64]]) -> None:
        """Refuse to ask anybody, or about any pair, two questions of which one is charged, before anything is spent.

        Args:
            users: The ids of the people who are asked each question.
        """
        for question in self.questions:
            ids = np.sort(users.get(question.name, np.zeros(0, dtype=np.int64)))
            if (ids[1:] == ids[:-1]).any():
                raise InvalidData(f"The question '{question.name}' was answered twice by one person.")
            for other in filter(self.asks, question.ask.other_pairs_than):
                question.ask.check_beside(self.question(other).ask)
            for other in filter(self.asks, question.ask.instead_of):
                question.ask.check_beside(self.question(other).ask)
                twice = np.intersect1d(users[question.name], users[other])
                if len(twice):
                    expected, found = f"for people who are not asked '{other}'", f"person {twice[0]}, asked twice"
                    raise InvalidData(f"question '{question.name}'", expected, found)

    def check(self, private: PrivateData) -> None:
        """Refuse one person's raw answers that do not fit the declaration, before anything is spent."""
        node = int(private.users[0])
        if not 0 <= node < self.population.num_nodes:
            raise InvalidData("node", f"an id below {self.population.num_nodes}", node)
        for question in self.questions:
            question.ask.check(private, self.population)

    @cached_property
    def wire(self) -> WireForm:
        """The bytes of one person's answers."""
        return WireForm(self)

    def matches(self, other: LocalRelease) -> bool:
        """Tell whether another release asks the same questions with the same mechanisms and budgets.

        Budgets that differ by rounding only are the same.
        """
        ours, theirs = ([question.declared() for question in each.questions] for each in (self, other))
        return len(ours) == len(theirs) and all(map(_alike, ours, theirs))

    def to_list(self) -> list[dict[str, Any]]:
        """Return the questions as plain values, for a manifest."""
        return [question.to_dict() for question in self.questions]

    @classmethod
    def from_list(cls, document: Any, population: Population) -> LocalRelease:
        """Read what :meth:`to_list` wrote."""
        if not isinstance(document, list | tuple):
            raise InvalidData("questions", "a list", type(document).__name__)
        return cls(tuple(Question.from_dict(each, population) for each in document), population)


def _is_in(value: object, arrays: Mapping[str, Any]) -> bool:
    return isinstance(value, str) and value in arrays


def _alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(
        math.isclose(value, other[name], rel_tol=1e-12) if isinstance(value, float) else value == other[name]
        for name, value in one.items()
    )
