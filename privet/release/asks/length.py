"""The question "how many": the length of a person's list."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import Mechanism
from privet.mechanisms.core.shapes import SymbolShape
from privet.privacy import Unit
from privet.release.asks._base import Ask
from privet.release.asks.neighbours import Neighbours
from privet.release.pretence import Pretence
from privet.release.private import PrivateData

__all__ = ["Length"]


@dataclass(frozen=True)
class Length(Neighbours):
    """The number of neighbours: of all, or of those of larger id where the mechanism is one-sided.

    One bit of a list changes the number by one.
    """

    name = "length"
    unit = Unit.NEIGHBOUR_BIT
    part = "length of the list"
    subject = "the number of your neighbours"

    def apply(self, private: PrivateData, mechanism: Mechanism) -> NDArray[np.int64]:
        """Count the neighbours that the mechanism is about."""
        if private.neighbours is None:
            raise InvalidData("The private data have no neighbour lists.")
        rows = np.repeat(np.arange(len(private)), np.diff(private.neighbours.indptr))
        one_sided = getattr(mechanism, "one_sided", False)
        counted = private.neighbours.indices > private.users[rows] if one_sided else np.ones(len(rows), dtype=np.bool_)
        return np.bincount(rows[counted], minlength=len(private))

    def speaks_for(self, pretence: Pretence, mechanism: Mechanism) -> None:
        """Say nothing about classes."""
        return

    def check_mechanism(self, mechanism: Mechanism) -> None:
        """Refuse a mechanism that does not report one number."""
        Ask.check_mechanism(self, mechanism)
        if mechanism.shape != SymbolShape(1, 1, mechanism.shape.columns[0].dtype):
            raise InvalidParameter(
                f"The question '{self.name}' needs a mechanism that randomises single numbers, not {mechanism.name}."
            )
