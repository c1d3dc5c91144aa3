"""The parameters of an instance of Prio3, and the sizes of its messages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from privet.errors import InvalidParameter
from privet.vdaf.circuits import Circuit
from privet.vdaf.derivation import Derivation
from privet.vdaf.fields import FIELD128, Elements
from privet.vdaf.proofs import ProofSystem
from privet.vdaf.xof import SEED

__all__ = ["NONCE", "Instance"]

NONCE = 16
"""The bytes of a nonce."""


@dataclass(frozen=True)
class Instance:
    """The parameters that clients and servers must agree on.

    Attributes:
        algorithm: The instance's number in the draft; it separates instances.
        circuit: What a measurement may be, and what is summed.
        shares: The number of servers, 2 to 255.
        proofs: Proofs of a report, 1 to 255.
    """

    algorithm: int
    circuit: Circuit
    shares: int = 2
    proofs: int = 1

    def __post_init__(self) -> None:
        if not 2 <= self.shares <= 255:
            raise InvalidParameter("shares", "from 2 to 255", self.shares)
        if not 1 <= self.proofs <= 255:
            raise InvalidParameter("proofs", "from 1 to 255", self.proofs)
        if self.circuit.challenges and self.circuit.field != FIELD128 and self.proofs < 3:
            raise InvalidParameter(
                "This circuit needs at least 3 proofs in the 64-bit field: with fewer, a liar can search for shares of "
                "an invalid measurement that pass."
            )

    @cached_property
    def system(self) -> ProofSystem:
        """The proofs of its circuit."""
        return ProofSystem(self.circuit)

    @property
    def random_size(self) -> int:
        """The random bytes that a report takes."""
        return SEED * self.shares * (2 if self.circuit.challenges else 1)

    @property
    def public_share_size(self) -> int:
        """The bytes of a public share."""
        return SEED * self.shares if self.circuit.challenges else 0

    def input_share_size(self, server: int) -> int:
        """Return the bytes of a server's input share; server 0 is the leader."""
        vectors = self.circuit.field.size * (self.circuit.input_length + self.proofs * self.system.proof_length)
        return (SEED if server else vectors) + (SEED if self.circuit.challenges else 0)

    @property
    def verifier_share_size(self) -> int:
        """The bytes of a verifier share."""
        elements = self.proofs * self.system.verifier_length
        return self.circuit.field.size * elements + (SEED if self.circuit.challenges else 0)

    def derivation(self, context: bytes) -> Derivation:
        """Return all that is derived from seeds in one application."""
        return Derivation(self.algorithm, self.system, self.proofs, context)

    def of_proof(self, vectors: Elements, proof: int) -> Elements:
        """Return the part of vectors that belongs to one proof."""
        length = vectors.shape[1] // self.proofs
        return vectors[:, proof * length : (proof + 1) * length]
