"""The base class of what can be summed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidData
from privet.privacy import Unit
from privet.release.private import PrivateData

__all__ = ["Tally"]


class Tally(ABC):
    """A private field, and the public function that makes of it the integers that are summed.

    Formal guarantee: for any two private fields of one person, the contributions of what :meth:`measure` returns are at
    most :attr:`change` apart. The device sees to that by itself, whatever the field holds.

    Attributes:
        name: The word for it.
        unit: The private field that an exchange of one person's data changes.
        part: The name of the line in a budget.
        subject: The beginning of a sentence to the owner, such as "your list's length".
    """

    name: ClassVar[str]
    unit: ClassVar[Unit]
    part: ClassVar[str]
    subject: ClassVar[str]

    @property
    @abstractmethod
    def circuit(self) -> tuple[str, Mapping[str, int]]:
        """The variant of Prio3 that checks a measurement, by its name in the draft, and its parameters."""

    @property
    @abstractmethod
    def width(self) -> int:
        """The number of entries of the sum."""

    @property
    @abstractmethod
    def change(self) -> float:
        """The largest Euclidean distance between two people's contributions: an exchange moves the sum so far."""

    @property
    def lie(self) -> float:
        """The largest distance of a contribution that servers accept from an honest one."""
        return self.change

    @property
    @abstractmethod
    def most(self) -> int:
        """The largest entry of a contribution."""

    @abstractmethod
    def measure(self, private: PrivateData) -> NDArray[np.int64]:
        """Return each person's measurement, on the device: what the circuit takes."""

    @abstractmethod
    def contributions(self, measurements: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row that each measurement adds to the sum."""

    def total(self, private: PrivateData) -> NDArray[np.int64]:
        """Return the sum of people's contributions, which exists in simulations only."""
        found = np.zeros(self.width, dtype=np.int64)
        for start in range(0, len(private), 256):  # rows may be wide
            some = private.take(np.arange(start, min(start + 256, len(private))))
            found += self.contributions(self.measure(some)).sum(axis=0)
        return found

    def estimate(self, sums: NDArray[np.float64], people: int) -> NDArray[np.float64]:
        """Return the result in the units of the private field.

        Args:
            sums: The noisy sums of contributions.
            people: The number of reports in them.
        """
        return sums


def features_of(private: PrivateData) -> Any:
    """Return people's features, and refuse private data without any."""
    if private.features is None:
        raise InvalidData("The private data have no features.")
    return private.features
