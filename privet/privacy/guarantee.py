"""Guarantees that carry their unit: an epsilon without one is a bug."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from fractions import Fraction
from functools import reduce
from numbers import Real
from operator import add
from typing import Any, Literal, TypeAlias

from privet.errors import IncompatibleGuarantees, InvalidParameter, one_line
from privet.privacy.rounding import at_most, odds_factor

__all__ = ["Guarantee", "Unit", "compose", "joint"]

_RELATIONSHIP = "one relationship costs an epsilon of"
_SEEN = {
    "local": "report",
    "central": "released model",
    "hybrid": "report and of the aggregator's noisy sums",
    "two servers": "report, as one of the two servers gets it, and of the noisy sums",
}
Model: TypeAlias = Literal["local", "central", "hybrid", "two servers"]


class Unit(StrEnum):
    """The thing that one guarantee protects; the adjacency says which inputs are told apart."""

    FEATURES = "feature vector"
    LABEL = "label"
    NEIGHBOUR_BIT = "neighbour list bit"
    RELATIONSHIP = "relationship"
    FRIEND_LIST = "friend list"
    PERSON = "person"
    NODE = "node"

    def covers(self, other: Unit) -> bool:
        """Tell whether a change of the other unit is a change of this one, so that this one's promise holds for it."""
        return other is self or other in _COVERED.get(self, ())


ADJACENCY = {
    Unit.FEATURES: "any two vectors in the declared domain (all coordinates may differ)",
    Unit.LABEL: "any two classes",
    Unit.NEIGHBOUR_BIT: "two neighbour lists that differ in one bit",
    Unit.RELATIONSHIP: "two graphs that differ in one relationship, which both of its ends may report",
    Unit.FRIEND_LIST: "any two friend lists of one device (every entry may differ)",
    Unit.PERSON: "any two states of one device (all features and the whole friend list may differ)",
    Unit.NODE: "add or remove one training node with its features, label and edges, the public degree sequence fixed",
}

_COVERED: dict[Unit, tuple[Unit, ...]] = {
    Unit.FRIEND_LIST: (Unit.NEIGHBOUR_BIT,),
    Unit.PERSON: (Unit.FEATURES, Unit.FRIEND_LIST, Unit.NEIGHBOUR_BIT),
}

_WHATEVER = {
    Unit.PERSON: "Whatever you answer and whoever your friends are",
    Unit.FRIEND_LIST: "Whoever your friends are",
}


@dataclass(frozen=True)
class Guarantee:
    """(epsilon, delta)-differential privacy of one unit.

    Pr[M(x) in S] <= exp(epsilon) Pr[M(x') in S] + delta for all adjacent x, x' and all sets S of outputs.

    Attributes:
        model: "local" (the server is the adversary), "central" (a holder is trusted), "hybrid" (devices randomise,
            and an aggregator is trusted with the data of some people) or "two servers" (devices randomise or divide
            their data, and two servers do not work together).
        unit: The thing that is protected.
        adjacency: The pairs of inputs that an observer cannot tell apart.
        epsilon: The bound that holds.
        delta: The probability beside it, 0 by default.
        published_epsilon: A paper's different claim for the same program, for comparison only.
        unprotected: Sentences on what an observer learns all the same. Those that name a price are made from the
            figures, so they stay true under composition.
        relationship_epsilon: The price of one undirected relationship, where neighbour lists are reported.
        exempt: The people whom the promise does not cover, such as a panel that shows its data.

    >>> one = Guarantee.local(Unit.LABEL, 1.0)
    >>> (one + one).epsilon
    2.0
    """

    model: Model
    unit: str
    adjacency: str
    epsilon: float
    delta: float = 0.0
    published_epsilon: float | None = None
    unprotected: tuple[str, ...] = ()
    relationship_epsilon: float | None = None
    exempt: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.model not in _SEEN:
            raise InvalidParameter("model", "'local', 'central', 'hybrid' or 'two servers'", self.model)
        for name in ("unit", "adjacency"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name).strip():
                raise InvalidParameter(name, "a non-empty description", repr(getattr(self, name)))
        check_epsilon(self.epsilon, allow_zero=True)
        if self.published_epsilon is not None:
            check_epsilon(self.published_epsilon, name="published_epsilon", allow_zero=True)
        if not isinstance(self.delta, Real) or not 0 <= self.delta <= 1:
            raise InvalidParameter("delta", "a number in [0, 1]", self.delta)
        given = (self.unprotected,) if isinstance(self.unprotected, str) else tuple(self.unprotected)
        kept = tuple(text for text in given if not text.startswith(_RELATIONSHIP))
        object.__setattr__(self, "unprotected", kept + self._prices())
        object.__setattr__(self, "exempt", tuple(self.exempt))

    def _prices(self) -> tuple[str, ...]:
        """Return the sentences on what relationships cost, which follow from the figures."""
        if self.relationship_epsilon is None:
            return ()
        price = at_most(self.relationship_epsilon)
        return (f"{_RELATIONSHIP} {price}; k relationships of one person at once cost at most k times as much",)

    @classmethod
    def local(cls, unit: Unit, epsilon: float, delta: float = 0.0, **rest: Any) -> Guarantee:
        """Return a promise of a device to its owner: the server is the adversary."""
        return cls("local", unit, ADJACENCY[unit], epsilon, delta, **rest)

    @classmethod
    def of_list_bit(cls, epsilon: float) -> Guarantee:
        """Return the promise of a report about a neighbour list.

        A relationship costs twice as much as a bit, also if each pair is to be reported by one of its ends: a device
        cannot check what the device at the other end is asked.

        Args:
            epsilon: The budget of one bit of one list.
        """
        taken = ("that the user took part",)
        return cls.local(Unit.NEIGHBOUR_BIT, epsilon, unprotected=taken, relationship_epsilon=2 * epsilon)

    def __add__(self, other: Guarantee) -> Guarantee:
        """Sequential composition within one unit: epsilons and deltas add (rounded up, never down)."""
        if not isinstance(other, Guarantee):
            return NotImplemented
        for aspect in ("model", "unit", "adjacency"):
            left, right = getattr(self, aspect), getattr(other, aspect)
            if left != right:
                raise IncompatibleGuarantees(aspect, left, right)
        return _sum([self, other], self.unit, self.adjacency)

    @property
    def trust(self) -> str:
        """The model of trust in words."""
        if self.model == "hybrid":
            return "local model, but for people whose data a trusted aggregator sees"
        if self.model == "two servers":
            return "model of two servers that do not work together"
        return f"{self.model} model"

    def odds(self) -> float:
        """The factor exp(epsilon) by which an observer's odds about the unit can change at most."""
        return math.exp(self.epsilon) if self.epsilon < 700 else math.inf

    def in_words(self) -> str:
        """Say it to the person whose data it is; the factor is rounded up."""
        factor, seen = odds_factor(self.epsilon), _SEEN[self.model]
        left = f" This does not hold for {' and '.join(self.exempt)}." if self.exempt else ""
        if not self.delta:
            begin = next((f"{_WHATEVER[unit]}, an" for unit in _WHATEVER if unit in self.unit.split(" and ")), "An")
            promise = (
                f"{begin} observer of the {seen} can multiply their odds about the {self.unit} by at most {factor}."
            )
            return promise + left
        other = "without the node" if self.unit == Unit.NODE else f"with another {self.unit}"
        return (
            f"Whatever an observer looks for in the {seen} is at most {factor} times as likely as it would be {other}, "
            f"plus {at_most(self.delta, 3)}.{left}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        lists = {"unprotected": list(self.unprotected), "exempt": list(self.exempt)}
        return {**asdict(self), "unit": str(self.unit), **lists}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Guarantee:
        """Read what :meth:`to_dict` wrote."""
        try:
            return cls(**values)
        except TypeError:
            known = ", ".join(field.name for field in fields(cls))
            raise InvalidParameter(f"A guarantee is an object with {known}, not {one_line(values)}.") from None


def compose(guarantees: Iterable[Guarantee]) -> Guarantee:
    """Sequential composition of guarantees of one unit; mixing units, models or adjacencies is an error."""
    parts = list(guarantees)
    if not parts or not all(isinstance(part, Guarantee) for part in parts):
        raise InvalidParameter("guarantees must be one Guarantee or more.")
    return reduce(add, parts)


def joint(*guarantees: Guarantee) -> Guarantee:
    """The guarantee of *several* units changing at once, say a feature vector and a label.

    The unit of the result is the pair, so this is a wider claim than any of its parts: epsilons and deltas add.
    The parts must be of one model, and of different units (within one unit use ``+``).
    """
    if len(guarantees) < 2:
        raise InvalidParameter("guarantees", "at least two guarantees", len(guarantees))
    for guarantee in guarantees[1:]:
        if guarantee.model != guarantees[0].model:
            raise IncompatibleGuarantees("model", guarantees[0].model, guarantee.model)
    units = [str(guarantee.unit) for guarantee in guarantees]
    if len(set(units)) < len(units):
        raise InvalidParameter("guarantees", "of different units (add those of one unit with +)", units)
    return _sum(guarantees, " and ".join(units), "; and ".join(g.adjacency for g in guarantees))


def check_epsilon(value: object, *, name: str = "epsilon", allow_zero: bool = False) -> float:
    """A privacy budget as a float, or one clear sentence."""
    if isinstance(value, Real) and not isinstance(value, bool):
        number = float(value)
        if math.isfinite(number) and (number > 0 or (number == 0 and allow_zero)):
            return number
    expected = "a finite number of at least 0" if allow_zero else "a finite number above 0"
    raise InvalidParameter(name, expected, value)


def _sum(guarantees: Iterable[Guarantee], unit: str, adjacency: str) -> Guarantee:
    parts = list(guarantees)
    published = None
    if any(g.published_epsilon is not None for g in parts):
        published = math.fsum(g.epsilon if g.published_epsilon is None else g.published_epsilon for g in parts)
    unprotected = tuple(dict.fromkeys(text for g in parts for text in g.unprotected))
    prices = [g.relationship_epsilon for g in parts if g.relationship_epsilon is not None]
    return replace(
        parts[0],
        unit=unit,
        adjacency=adjacency,
        epsilon=sum_up([g.epsilon for g in parts]),
        delta=min(1.0, sum_up([g.delta for g in parts])),
        published_epsilon=published,
        unprotected=unprotected,
        relationship_epsilon=sum_up(prices) if prices else None,
        exempt=tuple(dict.fromkeys(text for g in parts for text in g.exempt)),
    )


def sum_up(values: list[float]) -> float:
    """The sum, rounded towards infinity where it is not exact."""
    try:
        total = math.fsum(values)
    except OverflowError:
        raise InvalidParameter("The sum of these epsilons is too large for a number.") from None
    exact = sum(map(Fraction, values))
    return total if Fraction(total) >= exact else math.nextafter(total, math.inf)
