"""Gadgets: the only non-linear steps of a circuit, on numbers and on polynomials."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from privet.vdaf import kernels
from privet.vdaf.fields import Elements, Field, rowwise
from privet.vdaf.polynomials import Roots, power_of_two

__all__ = ["Gadget", "PairProducts", "PolynomialOf"]


class Gadget(ABC):
    """A function of some elements, a polynomial of a small degree."""

    @property
    @abstractmethod
    def arity(self) -> int:
        """The number of its inputs."""

    @property
    @abstractmethod
    def degree(self) -> int:
        """Its degree."""

    @abstractmethod
    def of_numbers(self, field: Field, inputs: Elements) -> Elements:
        """Return its value for each report.

        Args:
            field: The field.
            inputs: One row of inputs a report.
        """

    @abstractmethod
    def of_polynomials(self, field: Field, wires: Elements, order: int) -> Elements:
        """Return the values of its composition with polynomials.

        Args:
            field: The field.
            wires: For each input the values of a polynomial at the roots of unity of ``order``, one after the other.
            order: The number of values of each.

        Returns:
            Values at as many roots as a power of two allows for the composition's degree.
        """


@dataclass(frozen=True)
class PairProducts(Gadget):
    """The sum of the products of pairs of inputs (the draft's ``Mul``, and ``ParallelSum`` over it).

    Attributes:
        pairs: The number of pairs.
    """

    pairs: int = 1

    @property
    def arity(self) -> int:
        return 2 * self.pairs

    @property
    def degree(self) -> int:
        return 2

    def of_numbers(self, field: Field, inputs: Elements) -> Elements:
        out = field.zeros(len(inputs), 1)
        kernels.pair_sums(*rowwise(inputs), out)
        return out

    def of_polynomials(self, field: Field, wires: Elements, order: int) -> Elements:
        return Roots(field, order).pair_products(wires)


@dataclass(frozen=True)
class PolynomialOf(Gadget):
    """A polynomial of one input (the draft's ``PolyEval``).

    Attributes:
        coefficients: Its coefficients, the constant first.
    """

    coefficients: tuple[int, ...]

    @property
    def arity(self) -> int:
        return 1

    @property
    def degree(self) -> int:
        return len(self.coefficients) - 1

    def of_numbers(self, field: Field, inputs: Elements) -> Elements:
        out = field.zeros(len(inputs), inputs.shape[1])
        kernels.horner(field.of([self.coefficients[::-1]]), *rowwise(inputs), out)
        return out

    def of_polynomials(self, field: Field, wires: Elements, order: int) -> Elements:
        factor = power_of_two(self.degree * (order - 1) + 1) // order
        return self.of_numbers(field, Roots(field, order).finer(wires, factor))
