"""Public facts about the people who are asked: all that a question may depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from privet.data.schema import Categories, Interval, Schema, Several
from privet.errors import InvalidData

__all__ = ["Population", "Public"]


class HasPeople(Protocol):
    """Anything with a declared schema and a number of people, such as a Graph or a Study."""

    @property
    def schema(self) -> Schema | None: ...

    @property
    def num_nodes(self) -> int: ...


class HasPopulation(Protocol):
    """Anything whose people are known, such as a release."""

    @property
    def population(self) -> Population: ...


Public: TypeAlias = "HasPeople | HasPopulation | Population | Schema"
"""Whatever public facts about people are read from; a Schema alone stands for any number of people."""


@dataclass(frozen=True)
class Population:
    """The declared schema and the number of people.

    Attributes:
        schema: Each feature's domain, the number of classes, and whether edges are private.
        num_nodes: The number of people, N; their ids are 0 to N - 1.
    """

    schema: Schema
    num_nodes: int

    @classmethod
    def of(cls, public: Public) -> Population:
        """Read the public facts of anything that has a ``schema`` and ``num_nodes``, such as a Graph or a Study.

        A Schema alone stands for any number of people, which is enough where no question is about neighbours.
        """
        if isinstance(public, cls):
            return public
        if isinstance(public, Schema):
            return cls(public, 0)
        known, schema = (getattr(public, name, None) for name in ("population", "schema"))
        if isinstance(known, cls):
            return known
        if not isinstance(schema, Schema):
            raise InvalidData(
                "The graph has no schema, the declared domain of its features. Use Graph.replace(schema=...)."
            )
        return cls(schema, int(public.num_nodes))  # type: ignore[union-attr]

    @property
    def dimension(self) -> int:
        """The number of features."""
        return self.schema.dimension

    @property
    def low(self) -> tuple[float, ...]:
        """Each feature's smallest value."""
        return tuple(self.schema.low.tolist())

    @property
    def high(self) -> tuple[float, ...]:
        """Each feature's largest value."""
        return tuple(self.schema.high.tolist())

    @property
    def categories(self) -> tuple[int, ...]:
        """Each feature's number of categories; an error if a feature is an interval."""
        return self.schema.categories

    @property
    def columns(self) -> tuple[tuple[str, float, float, int], ...]:
        """Each feature's kind, smallest and largest value, and number of answers of their own."""
        kinds = {Interval: "number", Categories: "category", Several: "several"}
        ends = zip(self.schema.features, self.low, self.high, strict=True)
        return tuple((kinds[type(each)], low, high, each.extras) for each, low, high in ends)

    @property
    def classes(self) -> int:
        """The number of classes."""
        return self.schema.classes
