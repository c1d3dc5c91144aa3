"""Fully linear proofs: servers that hold shares of an input check a circuit without seeing the input.

The prover evaluates the circuit. For each input of the gadget, the values at all calls are the values of a *wire
polynomial* at roots of unity; its first value is a random seed. The proof is the seeds and the values of the gadget's
composition with the wire polynomials. Everything else is linear, so each server computes on shares: the circuit's
result, and at a random point the wire polynomials and the gadget polynomial. Added up, the result must be 0 and the
gadget of the wires must be the gadget polynomial.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.vdaf.circuits.circuit import Circuit
from privet.vdaf.fields import Elements
from privet.vdaf.polynomials import Roots, missing_values, power_of_two

__all__ = ["ProofSystem"]


@dataclass(frozen=True)
class ProofSystem:
    """Prove and check that inputs satisfy a circuit, one row a report.

    Attributes:
        circuit: The circuit.
    """

    circuit: Circuit

    @cached_property
    def order(self) -> int:
        """The values of a wire polynomial: the seed, one a call, and zeros up to a power of two."""
        return power_of_two(1 + self.circuit.calls)

    @cached_property
    def values(self) -> int:
        """The values that decide the gadget polynomial."""
        return self.circuit.gadget.degree * (self.order - 1) + 1

    @property
    def prover_random(self) -> int:
        """The random elements that a proof takes."""
        return self.circuit.gadget.arity

    @property
    def verifier_random(self) -> int:
        """The random elements that a check takes: the point, and factors where there are several results."""
        return 1 + (self.circuit.checks if self.circuit.checks > 1 else 0)

    @property
    def proof_length(self) -> int:
        """The elements of a proof."""
        return self.circuit.gadget.arity + self.values

    @property
    def verifier_length(self) -> int:
        """The elements that a server tells the other about a report."""
        return 2 + self.circuit.gadget.arity

    def prove(self, inputs: Elements, seeds: Elements, challenges: Elements) -> Elements:
        """Return a proof for each report.

        Args:
            inputs: Encoded measurements.
            seeds: The prover's random elements.
            challenges: The circuit's random elements.
        """
        circuit = self.circuit
        wires = circuit.wires(inputs, challenges, seeds, 1, self.order)
        polynomial = circuit.gadget.of_polynomials(circuit.field, wires, self.order)
        return np.concatenate([seeds, polynomial[:, : self.values]], axis=1)

    def query(
        self, inputs: Elements, proofs: Elements, random: Elements, challenges: Elements, shares: int
    ) -> tuple[Elements, NDArray[np.bool_]]:
        """Return a share of what decides each report's validity, and for which reports the random point is of no use.

        Args:
            inputs: Shares of encoded measurements.
            proofs: Shares of proofs.
            random: The verifiers' random elements, the same for all servers.
            challenges: The circuit's random elements.
            shares: The number of servers.
        """
        circuit, field = self.circuit, self.circuit.field
        factors, point = random[:, :-1], random[:, -1:]
        seeds, given = proofs[:, : self.prover_random], proofs[:, self.prover_random :]
        wires = circuit.wires(inputs, challenges, seeds, shares, self.order)
        polynomial = self._whole(given)
        step = polynomial.shape[1] // self.order
        outputs = polynomial[:, step : step * (1 + circuit.calls) : step]
        result = circuit.results(inputs, outputs, shares)
        if circuit.checks > 1:
            result = field.dots(result, field.prepared(factors))
        at_wires, useless = Roots(field, self.order).weights(point)
        at_polynomial, _ = Roots(field, polynomial.shape[1]).weights(point)
        parts = [result, field.dots(wires, at_wires), field.dots(polynomial, at_polynomial)]
        return np.concatenate(parts, axis=1), useless

    def decide(self, verifiers: Elements) -> NDArray[np.bool_]:
        """Tell which reports are valid.

        Args:
            verifiers: The sums of all servers' shares from :meth:`query`.
        """
        field = self.circuit.field
        wanted = self.circuit.gadget.of_numbers(field, verifiers[:, 1:-1])
        return field.is_zero(verifiers[:, :1]) & field.is_zero(field.subtract(wanted, verifiers[:, -1:]))

    def _whole(self, given: Elements) -> Elements:
        """Return all values of the gadget polynomial at a power of two of roots."""
        field, order = self.circuit.field, power_of_two(self.values)
        if order == self.values:
            return given
        rows = missing_values(field, self.values, order)
        missing = [field.dots(given, rows[i : i + 1]) for i in range(len(rows))]
        return np.concatenate([given, *missing], axis=1)
