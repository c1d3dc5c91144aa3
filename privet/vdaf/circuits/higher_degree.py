"""HigherDegree: the circuit of the official vectors whose gadget has degree three; a measurement is 0, 1 or 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from privet.vdaf.circuits.circuit import Circuit
from privet.vdaf.circuits.integers import whole_numbers
from privet.vdaf.fields import FIELD64, Elements
from privet.vdaf.gadgets import PolynomialOf

__all__ = ["HigherDegree"]


@dataclass(frozen=True)
class HigherDegree(Circuit):
    """Add 0, 1 and 2: x is valid if x (x - 1) (x - 2) is 0. For tests: it has no number of its own in the draft."""

    field = FIELD64
    calls = input_length = output_length = checks = 1
    challenges = 0

    @property
    def gadget(self) -> PolynomialOf:
        return PolynomialOf((0, 2, -3, 1))

    def encode(self, measurements: Sequence[int]) -> Elements:
        return self.field.of_small(whole_numbers(measurements, None, 2))

    def wires(self, inputs: Elements, challenges: Elements, seeds: Elements, shares: int, order: int) -> Elements:
        found = self.field.zeros(len(inputs), order)
        found[:, :1] = seeds
        found[:, 1:2] = inputs
        return found

    def results(self, inputs: Elements, outputs: Elements, shares: int) -> Elements:
        return outputs

    def truncate(self, inputs: Elements) -> Elements:
        return inputs

    def decode(self, total: list[int]) -> int:
        return total[0]
