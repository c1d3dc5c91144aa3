"""The interface of a validity circuit: what a measurement may be, how it is encoded, checked and summed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from privet.vdaf.fields import Elements, Field
from privet.vdaf.gadgets import Gadget

__all__ = ["Circuit"]


class Circuit(ABC):
    """A public function of an encoded measurement and of random challenges that is 0 for valid measurements only.

    It is linear but for calls of one gadget, so servers can evaluate it on shares: a proof supplies the gadget's
    outputs. All methods take whole batches, one row a report.
    """

    @property
    @abstractmethod
    def field(self) -> Field:
        """The field that it computes in."""

    @property
    @abstractmethod
    def gadget(self) -> Gadget:
        """Its only non-linear step."""

    @property
    @abstractmethod
    def calls(self) -> int:
        """The number of calls of the gadget."""

    @property
    @abstractmethod
    def input_length(self) -> int:
        """The elements of an encoded measurement."""

    @property
    @abstractmethod
    def challenges(self) -> int:
        """The random elements that it takes (the draft's joint randomness), 0 if it takes none."""

    @property
    @abstractmethod
    def output_length(self) -> int:
        """The elements that are summed over reports."""

    @property
    @abstractmethod
    def checks(self) -> int:
        """The number of results, each of which must be 0."""

    @abstractmethod
    def encode(self, measurements: Any) -> Elements:
        """Return measurements as rows of ``input_length`` elements.

        Raises:
            InvalidData: If a measurement is not one that the circuit accepts.
        """

    @abstractmethod
    def wires(self, inputs: Elements, challenges: Elements, seeds: Elements, shares: int, order: int) -> Elements:
        """Return the gadget's inputs: for each of them its seed, its value at each call, and zeros.

        Args:
            inputs: Encoded measurements, or shares of them.
            challenges: The random elements.
            seeds: The first value of each wire.
            shares: Among how many servers constants are divided.
            order: The values of a wire, more than there are calls.
        """

    @abstractmethod
    def results(self, inputs: Elements, outputs: Elements, shares: int) -> Elements:
        """Return the results of all checks.

        Args:
            inputs: Encoded measurements, or shares of them.
            outputs: The gadget's output at each call.
            shares: Among how many servers constants are divided.
        """

    @abstractmethod
    def truncate(self, inputs: Elements) -> Elements:
        """Return the elements that are summed over reports."""

    @abstractmethod
    def decode(self, total: list[int]) -> Any:
        """Return the aggregate result of a sum."""
