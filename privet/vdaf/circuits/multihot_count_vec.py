"""MultihotCountVec: a measurement is a vector of zeros and at most so many ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privet.errors import InvalidData, InvalidParameter
from privet.vdaf.circuits.chunks import ChunkedCircuit
from privet.vdaf.circuits.integers import bits_of, must_be_positive, whole_numbers, without_bits
from privet.vdaf.fields import FIELD128, Elements

__all__ = ["MultihotCountVec"]


@dataclass(frozen=True)
class MultihotCountVec(ChunkedCircuit):
    """Count ones by position: the input is a vector of zeros and ones, then the bits of their number.

    Attributes:
        length: The entries of a vector.
        max_weight: The most ones of a vector.
        chunk_length: The elements that one call of the gadget checks.
    """

    length: int
    max_weight: int
    chunk_length: int
    field = FIELD128
    checks = 2

    def __post_init__(self) -> None:
        must_be_positive(length=self.length, max_weight=self.max_weight, chunk_length=self.chunk_length)
        if self.max_weight > self.length:
            raise InvalidParameter("max_weight", f"at most the length, {self.length}", self.max_weight)

    @property
    def input_length(self) -> int:
        return self.length + self.max_weight.bit_length()

    @property
    def output_length(self) -> int:
        return self.length

    def encode(self, measurements: Sequence[Sequence[int]]) -> Elements:
        entries = whole_numbers(measurements, self.length, 1)
        ones = entries.sum(axis=1, keepdims=True)
        if (ones > self.max_weight).any():
            where = int(np.flatnonzero(ones[:, 0] > self.max_weight)[0])
            raise InvalidData(f"Measurement {where} has more ones than the {self.max_weight} that were declared.")
        return self.field.of_small(np.concatenate([entries, bits_of(ones, self.max_weight)], axis=1))

    def results(self, inputs: Elements, outputs: Elements, shares: int) -> Elements:
        ones = self.field.dots(inputs[:, : self.length], self.field.weights((1,) * self.length))
        told = without_bits(self.field, inputs[:, self.length :], self.max_weight)
        return np.concatenate([self.range_check(outputs), self.field.subtract(ones, told)], axis=1)

    def truncate(self, inputs: Elements) -> Elements:
        return inputs[:, : self.length]

    def decode(self, total: list[int]) -> list[int]:
        return total
