"""The person question for the people of a later wave, whose devices count over a fuller table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privet.errors import InvalidData
from privet.release.asks._base import Ask
from privet.release.asks.person import Person

__all__ = ["PersonAgain"]


@dataclass(frozen=True)
class PersonAgain(Person):
    """The same question, for people who were not asked in the first wave; its table may depend on the first answers.

    Formal guarantee: everybody answers in one wave at most, so both waves together cost what the dearer of them costs.
    A device that answered the first refuses the second, whatever it is offered.

    Attributes:
        offers: As in the first wave; nobody is offered two classes in both.
        reads: As in the first wave.
        scorer: As in the first wave.
        unit_length: As in the first wave.
        table: As in the first wave, with the classes that its answers point to.
        mixing: As in the first wave.
        shares: As in the first wave.
    """

    name = "person-again"
    instead_of = (Person.name,)

    def check_beside(self, other: Ask) -> None:
        """Refuse offers that ask a person in both waves."""
        mine, theirs = self.people(), other.people()
        if type(other) is not Person or mine is None or theirs is None:
            return
        both = np.intersect1d(mine, theirs)
        if len(both):
            expected = "to people who are not asked in the first wave"
            raise InvalidData(f"offers of '{self.name}'", expected, f"person {both[0]}, who is")
