"""SumVec: a measurement is a vector of integers from 0 to a bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from privet.vdaf.circuits.chunks import ChunkedCircuit
from privet.vdaf.circuits.integers import bits_of, must_be_positive, whole_numbers, without_bits
from privet.vdaf.fields import FIELD128, Elements, Field

__all__ = ["SumVec"]


@dataclass(frozen=True)
class SumVec(ChunkedCircuit):
    """Add vectors of integers from 0 to a bound.

    Attributes:
        length: The numbers of a vector.
        max_measurement: The bound, below 2^63; sums are modulo the field's prime.
        chunk_length: The bits that one call of the gadget checks.
        field: The field.
    """

    length: int
    max_measurement: int
    chunk_length: int
    field: Field = FIELD128
    checks = 1

    def __post_init__(self) -> None:
        must_be_positive(length=self.length, max_measurement=self.max_measurement, chunk_length=self.chunk_length)

    @property
    def input_length(self) -> int:
        return self.length * self.max_measurement.bit_length()

    @property
    def output_length(self) -> int:
        return self.length

    def encode(self, measurements: Sequence[Sequence[int]]) -> Elements:
        numbers = whole_numbers(measurements, self.length, self.max_measurement)
        return self.field.of_small(bits_of(numbers, self.max_measurement))

    def results(self, inputs: Elements, outputs: Elements, shares: int) -> Elements:
        return self.range_check(outputs)

    def truncate(self, inputs: Elements) -> Elements:
        return without_bits(self.field, inputs, self.max_measurement)

    def decode(self, total: list[int]) -> list[int]:
        return total
