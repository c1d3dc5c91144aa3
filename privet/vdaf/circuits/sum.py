"""Sum: a measurement is an integer from 0 to a bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from privet.vdaf.circuits.circuit import Circuit
from privet.vdaf.circuits.integers import bits_of, must_be_positive, whole_numbers, without_bits
from privet.vdaf.fields import FIELD64, Elements
from privet.vdaf.gadgets import PolynomialOf

__all__ = ["Sum"]


@dataclass(frozen=True)
class Sum(Circuit):
    """Add integers from 0 to a bound: each of their bits x is valid if x x - x is 0.

    Attributes:
        max_measurement: The bound, below 2^63.
    """

    max_measurement: int
    field = FIELD64
    challenges = 0
    output_length = 1

    def __post_init__(self) -> None:
        must_be_positive(max_measurement=self.max_measurement)

    @property
    def input_length(self) -> int:
        return self.max_measurement.bit_length()

    @property
    def calls(self) -> int:
        return self.input_length

    @property
    def checks(self) -> int:
        return self.input_length

    @property
    def gadget(self) -> PolynomialOf:
        return PolynomialOf((0, -1, 1))

    def encode(self, measurements: Sequence[int]) -> Elements:
        numbers = whole_numbers(measurements, None, self.max_measurement)
        return self.field.of_small(bits_of(numbers, self.max_measurement))

    def wires(self, inputs: Elements, challenges: Elements, seeds: Elements, shares: int, order: int) -> Elements:
        found = self.field.zeros(len(inputs), order)
        found[:, :1] = seeds
        found[:, 1 : 1 + self.calls] = inputs
        return found

    def results(self, inputs: Elements, outputs: Elements, shares: int) -> Elements:
        return outputs

    def truncate(self, inputs: Elements) -> Elements:
        return without_bits(self.field, inputs, self.max_measurement)

    def decode(self, total: list[int]) -> int:
        return total[0]
