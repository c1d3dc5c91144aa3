"""A question: the one kind of thing that a device answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
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


@lru_cache(maxsize=256)
def _one_liar(mechanism: Mechanism) -> str:
    """Tell once how far one report can move an estimate; the same mechanism is asked often."""
    return mechanism.one_liar()


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
            raise InvalidParameter("parameters", f"the question '{self.name}'", expected, ", ".join(shared))

    @property
    def name(self) -> str:
        """The key of the question's answers: in memory, on the wire and in files."""
        return self.ask.name

    def guarantee(self, bound: bool = True) -> Guarantee:
        """Return the mechanism's promise, stated for the private field that is asked about.

        Args:
            bound: True if everybody is known to have the same number, and to be given the same tables, on every
                device. Otherwise a server could treat devices differently, so that both ends of a pair answer a
                one-sided question about it, and a relationship costs twice as much.
        """
        unit, own = self.ask.unit, self.mechanism.guarantee()
        price = own.epsilon if self.ask.counted_once else own.relationship_epsilon
        if unit is Unit.NEIGHBOUR_BIT and (price is None or not bound):
            price = 2 * own.epsilon  # nothing keeps the other end of a pair from answering about it too
        return replace(own, unit=unit, adjacency=ADJACENCY[unit], relationship_epsilon=price)

    def line(self) -> LedgerLine:
        """Return the question's line in a budget."""
        promise = self.guarantee()
        return LedgerLine(
            self.ask.part,
            str(promise.unit),
            self.mechanism.name,
            promise.epsilon,
            promise.delta,
            how=self.mechanism.words,
            one_liar=_one_liar(self.mechanism),
        )

    def cost(self, bound: bool = True) -> float:
        """Return the epsilon that an answer costs its owner's lifetime budget; of lists, a whole relationship's.

        Args:
            bound: As for :meth:`guarantee`.
        """
        promise = self.guarantee(bound)
        return promise.epsilon if promise.relationship_epsilon is None else promise.relationship_epsilon

    def sends(self) -> str:
        """Tell the owner what leaves the device."""
        price = f"{self.mechanism.name}, epsilon {at_most(self.line().epsilon)}"
        return f"{self.ask.subject}: {self.mechanism.sends()} ({price})"

    def perturb(self, private: PrivateData, bits: Bits) -> Any:
        """Answer on the device: apply the function, then randomise. Nothing else reads private data."""
        values = self.ask.apply(private, self.mechanism)
        if self.mechanism.personal:
            return self.mechanism.perturb(values, bits, users=private.users)  # type: ignore[call-arg]
        return self.mechanism.perturb(values, bits)

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
            named = ", ".join(map(str, rest)) or "nothing"
            raise InvalidParameter(
                "mechanism", f"the question '{ask.name}'", f"{mechanism.name} with its parameters", named
            ) from None
