"""How many people have lists of each length."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidData, InvalidParameter
from privet.privacy import Unit
from privet.release.private import PrivateData
from privet.release.tallies._base import Tally

__all__ = ["Lengths"]


@dataclass(frozen=True)
class Lengths(Tally):
    """Count people by the length of their friend list.

    An exchange of the whole list moves one person from one count to another: a distance of the square root of 2.

    Attributes:
        cap: The longest length that has a count of its own; longer lists are counted there.
    """

    cap: int

    name = "lengths"
    unit = Unit.FRIEND_LIST
    part = "counts of list lengths"
    subject = "the number of your friends"

    def __post_init__(self) -> None:
        if self.cap < 1:
            raise InvalidParameter("cap", "at least 1", self.cap)

    @property
    def circuit(self) -> tuple[str, Mapping[str, int]]:
        return "Prio3Histogram", {"length": self.cap + 1}

    @property
    def width(self) -> int:
        return self.cap + 1

    @property
    def change(self) -> float:
        return math.sqrt(2)

    @property
    def most(self) -> int:
        return 1

    def measure(self, private: PrivateData) -> NDArray[np.int64]:
        if private.neighbours is None:
            raise InvalidData("The private data have no friend lists.")
        return np.asarray(np.minimum(np.diff(private.neighbours.indptr), self.cap), dtype=np.int64)

    def contributions(self, measurements: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.asarray(measurements[:, None] == np.arange(self.cap + 1), dtype=np.int64)
