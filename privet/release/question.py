"""A question: the one kind of thing that a device answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import MECHANISMS, Bits, Mechanism
from privet.privacy import Guarantee, Unit
from privet.privacy.guarantee import ADJACENCY
from privet.privacy.ledger import LedgerLine
from privet.privacy.rounding import at_most
from privet.release.asks import ASKS, Ask
from privet.release.private import PrivateData

__all__ = ["Question"]

_WHOLE = {Unit.PERSON: "what is on the device", Unit.FRIEND_LIST: "the friend list"}
_FOR = {
    "relationship": " for a relationship",
    "friend list": " for the whole friend list",
    "person": " for everything together",
}


@dataclass(frozen=True)
class Question:
    """A private field, a public function that the device applies to it, and a mechanism that randomises the result.

    Formal guarantee: the ask maps inputs that are adjacent in its unit to values that are adjacent for the mechanism,
    so the mechanism's (epsilon, delta) hold for the private field, whatever the public function is.

    Attributes:
        ask: The field and the function, such as ``Features()`` or ``Length()``.
        mechanism: The randomiser of the function's result.
    """

    ask: Ask
    mechanism: Mechanism

    def __post_init__(self) -> None:
        self.ask.check_mechanism(self.mechanism)
        shared = sorted({*self.ask.parameters(), "ask", "mechanism"} & self.mechanism.parameters().keys())
        if shared:  # a manifest holds both as one object
            expected = f"named otherwise than those of {self.mechanism.name}"
            raise InvalidParameter("parameters", expected, ", ".join(shared))

    @property
    def name(self) -> str:
        """The key of the question's answers: in memory, on the wire and in files."""
        return self.ask.name

    def guarantee(self) -> Guarantee:
        """Return the mechanism's promise, stated for the private field that is asked about.

        Of a question about a list it is the promise about a relationship, which two devices may report: nothing keeps a
        server from numbering people, or from publishing tables, so that both ends of a pair answer about it. Where an
        answer is about a whole list, the promise is about the list, and a relationship costs what both ends' do.
        """
        unit, own = self.ask.unit, self.mechanism.guarantee()
        both = own + own
        if unit is Unit.NEIGHBOUR_BIT:
            unit = Unit.RELATIONSHIP
            return replace(both, unit=unit, adjacency=ADJACENCY[unit], relationship_epsilon=both.epsilon)
        told = both.epsilon if unit.covers(Unit.NEIGHBOUR_BIT) else None
        return replace(own, unit=unit, adjacency=ADJACENCY[unit], relationship_epsilon=told)

    def line(self) -> LedgerLine:
        """Return the question's line in a budget."""
        how = self.mechanism.words
        if self.ask.unit is Unit.NEIGHBOUR_BIT:
            each = at_most(self.mechanism.guarantee().epsilon)
            how += f"; both ends of a relationship may report it, with an epsilon of {each} each"
        elif self.ask.unit.covers(Unit.NEIGHBOUR_BIT):
            how += f"; all of {_WHOLE[self.ask.unit]} is in this one answer"
        return LedgerLine.of(self.ask.part, self.mechanism.name, self.guarantee(), how)

    def sends(self) -> str:
        """Tell the owner what leaves the device."""
        line = self.line()
        price = at_most(line.epsilon) + _FOR.get(line.unit, "")
        return f"{self.ask.subject}: {self.mechanism.sends()} ({line.mechanism}, epsilon {price})"

    def perturb(self, private: PrivateData, bits: Bits) -> Any:
        """Answer on the device: apply the function, then randomise. Nothing else reads private data."""
        values = self.ask.apply(private, self.mechanism)
        if self.mechanism.personal:
            return self.mechanism.perturb(values, bits, users=private.users)  # type: ignore[call-arg]
        return self.mechanism.perturb(values, bits)

    def declared(self) -> dict[str, Any]:
        """Return plain values without the public tables, which are drawn up later, and without their form.

        A study's plan states its questions so: price and promise depend on nothing else.
        """
        ask, later = self.ask, self.ask.drawn_up_later()
        own = {name: getattr(ask, name) for name in ask.parameters() if name not in later}
        values = {"ask": self.name, **own, "mechanism": self.mechanism.name, **self.mechanism.parameters()}
        return {name: value for name, value in values.items() if value is not None}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for a manifest."""
        mechanism = self.mechanism
        return {"ask": self.name, **self.ask.to_dict(), "mechanism": mechanism.name, **mechanism.parameters()}

    @classmethod
    def from_dict(cls, document: Any, population: Population) -> Question:
        """Read what :meth:`to_dict` wrote; anything else is an error that names the problem."""
        if not isinstance(document, dict) or not {"ask", "mechanism"} <= document.keys():
            raise InvalidData("question", "an object with 'ask' and 'mechanism'", document)
        ask, mechanism = ASKS.find(str(document["ask"])), MECHANISMS.find(str(document["mechanism"]))
        rest = {name: value for name, value in document.items() if name not in ("ask", "mechanism")}
        own = {name: rest.pop(name) for name in ask.parameters() if name in rest}
        try:
            return cls(ask(**own), mechanism.declare(population, **rest))
        except TypeError:
            raise InvalidParameter(
                f"{mechanism.name} cannot be made from the parameters {', '.join(map(str, rest)) or '(none)'}."
            ) from None
