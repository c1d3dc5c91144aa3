"""Count: a measurement is 0 or 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from privet.vdaf.circuits.circuit import Circuit
from privet.vdaf.circuits.integers import whole_numbers
from privet.vdaf.fields import FIELD64, Elements
from privet.vdaf.gadgets import PairProducts

__all__ = ["Count"]


@dataclass(frozen=True)
class Count(Circuit):
    """Count reports that are 1: x is valid if x x - x is 0."""

    field = FIELD64
    calls = input_length = output_length = checks = 1
    challenges = 0

    @property
    def gadget(self) -> PairProducts:
        return PairProducts()

    def encode(self, measurements: Sequence[int]) -> Elements:
        return self.field.of_small(whole_numbers(measurements, None, 1))

    def wires(self, inputs: Elements, challenges: Elements, seeds: Elements, shares: int, order: int) -> Elements:
        found = self.field.zeros(len(inputs), 2 * order)
        found[:, ::order] = seeds
        found[:, 1::order] = inputs  # both factors
        return found

    def results(self, inputs: Elements, outputs: Elements, shares: int) -> Elements:
        return self.field.subtract(outputs, inputs)

    def truncate(self, inputs: Elements) -> Elements:
        return inputs

    def decode(self, total: list[int]) -> int:
        return total[0]
