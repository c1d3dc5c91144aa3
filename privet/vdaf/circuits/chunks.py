"""What circuits over vectors share: all elements are 0 or 1, checked in chunks by one gadget."""

from __future__ import annotations

from privet.vdaf import kernels
from privet.vdaf.circuits.circuit import Circuit
from privet.vdaf.fields import Elements, rowwise
from privet.vdaf.gadgets import PairProducts
from privet.vdaf.polynomials import power_of_two

__all__ = ["ChunkedCircuit", "best_chunk_length"]


class ChunkedCircuit(Circuit):
    """A circuit that checks whether each element x of its input is 0 or 1.

    A call of the gadget checks a chunk: with the chunk's challenge r it adds r x (x - 1), r^2 x (x - 1) and so on over
    the chunk's elements. The sum over all chunks is 0 for zeros and ones, and hardly ever for anything else.

    Attributes:
        chunk_length: The elements of a chunk; proofs are shortest near :func:`best_chunk_length`.
    """

    chunk_length: int

    @property
    def gadget(self) -> PairProducts:
        return PairProducts(self.chunk_length)

    @property
    def calls(self) -> int:
        return -(-self.input_length // self.chunk_length)

    @property
    def challenges(self) -> int:
        return self.calls

    def wires(self, inputs: Elements, challenges: Elements, seeds: Elements, shares: int, order: int) -> Elements:
        found = self.field.zeros(len(inputs), self.gadget.arity * order)
        part = self.field.of([[self.part(shares)]])
        kernels.range_wires(*rowwise(inputs, challenges, part, seeds), found)
        return found

    def part(self, shares: int) -> int:
        """Return what each of some servers adds up to 1."""
        return pow(shares, -1, self.field.modulus)

    def range_check(self, outputs: Elements) -> Elements:
        """Return the check that all elements are 0 or 1."""
        return self.field.dots(outputs, self.field.weights((1,) * self.calls))


def best_chunk_length(elements: int) -> int:
    """Return the chunk length with the shortest proof.

    A proof has twice as many elements as a chunk has, and twice as many as the least power of two above the calls.

    Args:
        elements: The elements of an encoded measurement.
    """
    orders = [1 << k for k in range(1, power_of_two(elements + 1).bit_length())]
    return min((-(-elements // (order - 1)) for order in orders), key=lambda c: c + power_of_two(1 + -(-elements // c)))
