"""Histogram: a measurement is the number of a bucket."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privet.vdaf.circuits.chunks import ChunkedCircuit
from privet.vdaf.circuits.integers import must_be_positive, whole_numbers
from privet.vdaf.fields import FIELD128, Elements

__all__ = ["Histogram"]


@dataclass(frozen=True)
class Histogram(ChunkedCircuit):
    """Count reports in buckets: the input's elements are 0 or 1, and their sum is 1.

    Attributes:
        length: The number of buckets.
        chunk_length: The buckets that one call of the gadget checks.
    """

    length: int
    chunk_length: int
    field = FIELD128
    checks = 2

    def __post_init__(self) -> None:
        must_be_positive(length=self.length, chunk_length=self.chunk_length)

    @property
    def input_length(self) -> int:
        return self.length

    @property
    def output_length(self) -> int:
        return self.length

    def encode(self, measurements: Sequence[int]) -> Elements:
        buckets = whole_numbers(measurements, None, self.length - 1)
        return self.field.of_small((buckets == np.arange(self.length)).astype(np.int64))

    def results(self, inputs: Elements, outputs: Elements, shares: int) -> Elements:
        ones = self.field.dots(inputs, self.field.weights((1,) * self.length))
        one = self.field.of([[self.part(shares)]] * len(inputs))
        return np.concatenate([self.range_check(outputs), self.field.subtract(ones, one)], axis=1)

    def truncate(self, inputs: Elements) -> Elements:
        return inputs

    def decode(self, total: list[int]) -> list[int]:
        return total
