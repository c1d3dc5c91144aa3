"""Exact audits of a person who answers more than once: several studies, several rounds, the same request again.

A budget that is charged for one report says nothing about two. All pairs (or triples) of reports are listed here with
their joint probability, in exact arithmetic, and compared with what a ledger charges for them together.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from privet.errors import InvalidParameter
from privet.mechanisms.core.base import Distribution, Mechanism, product_distribution
from privet.privacy import Guarantee, joint

__all__ = ["Repeated", "SameAnswer", "SeveralFields"]


@dataclass(frozen=True)
class Repeated:
    """Reports of several mechanisms about the same private value, each with randomness of its own.

    That is a person in several studies with one question, or in one study whose device forgot what it had sent. The
    epsilons of the reports add.

    Args:
        mechanisms: The mechanisms, at least one; all take the values of the first one.

    >>> from privet.auditing import audit
    >>> from privet.mechanisms import RandomizedResponse
    >>> twice = Repeated((RandomizedResponse(epsilon=1.0, classes=3), RandomizedResponse(epsilon=0.5, classes=3)))
    >>> found = audit(twice)
    >>> found.holds, found.claim, round(found.epsilon, 6)
    (True, 1.5, 1.5)
    """

    mechanisms: tuple[Mechanism, ...]

    def __post_init__(self) -> None:
        if not self.mechanisms:
            raise InvalidParameter(f"{type(self).__name__} needs at least one mechanism.")

    @property
    def name(self) -> str:
        """The names of the mechanisms."""
        return " and ".join(each.name for each in self.mechanisms)

    @property
    def num_reports(self) -> int:
        """The number of different sequences of reports."""
        return math.prod(each.num_reports for each in self.mechanisms)

    def guarantee(self) -> Guarantee:
        """Return the sum of the promises, which is what a ledger charges."""
        return reduce(add, (each.guarantee() for each in self.mechanisms))

    def adjacent_pairs(self) -> Iterator[tuple[Any, Any]]:
        """Yield the pairs of the first mechanism."""
        return self.mechanisms[0].adjacent_pairs()

    def exact_distribution(self, value: Any) -> Distribution:
        """Return the joint distribution of all reports."""
        return product_distribution([each.exact_distribution(value) for each in self.mechanisms])


@dataclass(frozen=True)
class SeveralFields(Repeated):
    """Reports about several private fields of one person, such as those of a study's rounds; all fields may differ.

    A value is a tuple with one entry for each mechanism.
    """

    def guarantee(self) -> Guarantee:
        """Return the joint promise about all fields."""
        own = [each.guarantee() for each in self.mechanisms]
        return joint(*own) if len({each.unit for each in own}) > 1 else reduce(add, own)

    def adjacent_pairs(self) -> Iterator[tuple[Any, Any]]:
        """Yield tuples that differ in every field."""
        for pairs in itertools.product(*(each.adjacent_pairs() for each in self.mechanisms)):
            yield tuple(first for first, _ in pairs), tuple(second for _, second in pairs)

    def exact_distribution(self, value: Any) -> Distribution:
        """Return the joint distribution of all reports."""
        parts = zip(self.mechanisms, value, strict=True)
        return product_distribution([mechanism.exact_distribution(field) for mechanism, field in parts])


@dataclass(frozen=True)
class SameAnswer:
    """One report that a device remembers and gives on every request: more requests show nothing more.

    Args:
        mechanism: The mechanism that is asked again.
        requests: The number of requests (default 2).

    >>> from privet.auditing import audit
    >>> from privet.mechanisms import RandomizedResponse
    >>> response = RandomizedResponse(epsilon=1.0, classes=3)
    >>> audit(SameAnswer(response, requests=3)).epsilon == audit(response).epsilon
    True
    """

    mechanism: Mechanism
    requests: int = 2

    def __post_init__(self) -> None:
        if self.requests < 1:
            raise InvalidParameter("requests", "at least 1", self.requests)

    @property
    def name(self) -> str:
        """The name of the mechanism."""
        return self.mechanism.name

    @property
    def num_reports(self) -> int:
        """The number of different reports: repetitions add none."""
        return self.mechanism.num_reports

    def guarantee(self) -> Guarantee:
        """Return the promise of one report."""
        return self.mechanism.guarantee()

    def adjacent_pairs(self) -> Iterator[tuple[Any, Any]]:
        """Yield the pairs of the mechanism."""
        return self.mechanism.adjacent_pairs()

    def exact_distribution(self, value: Any) -> Distribution:
        """Return the distribution of the sequences of equal reports."""
        return {(key,) * self.requests: chance for key, chance in self.mechanism.exact_distribution(value).items()}
