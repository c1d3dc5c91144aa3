"""All that Prio3 derives from seeds, each under a tag of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from privet.errors import InvalidParameter
from privet.vdaf import xof
from privet.vdaf.fields import Elements
from privet.vdaf.proofs import ProofSystem

__all__ = ["VERSION", "Derivation"]

VERSION = 18
"""The number by which drafts that are not compatible tell each other apart; it is that of drafts 18 to 20."""

_VDAF = 0  # the class of algorithms
_MEASUREMENT, _PROOF, _CHALLENGES, _PROVER, _VERIFIER, _CHALLENGE_SEED, _CHALLENGE_PART = range(1, 8)


@dataclass(frozen=True)
class Derivation:
    """Vectors and seeds of one instance of Prio3 in one application, one row a report.

    Attributes:
        algorithm: The instance's number.
        system: Its proofs.
        proofs: How many proofs a report has.
        context: The application, of at most 65,527 bytes.
    """

    algorithm: int
    system: ProofSystem
    proofs: int
    context: bytes

    def __post_init__(self) -> None:
        if len(self.context) > 2**16 - 9:
            raise InvalidParameter("context", "at most 65,527 bytes long", f"{len(self.context)} bytes")

    def helper_measurements(self, server: int, seeds: Sequence[bytes]) -> Elements:
        """Return a helper's shares of encoded measurements."""
        return self._vectors(_MEASUREMENT, seeds, [bytes([server])] * len(seeds), self.system.circuit.input_length)

    def helper_proofs(self, server: int, seeds: Sequence[bytes]) -> Elements:
        """Return a helper's shares of proofs."""
        binders = [bytes([self.proofs, server])] * len(seeds)
        return self._vectors(_PROOF, seeds, binders, self.proofs * self.system.proof_length)

    def prover_random(self, seeds: Sequence[bytes]) -> Elements:
        """Return the prover's random elements."""
        binders = [bytes([self.proofs])] * len(seeds)
        return self._vectors(_PROVER, seeds, binders, self.proofs * self.system.prover_random)

    def verifier_random(self, key: bytes, nonces: Sequence[bytes]) -> Elements:
        """Return the verifiers' random elements, which depend on a key that clients do not know."""
        binders = [bytes([self.proofs]) + nonce for nonce in nonces]
        return self._vectors(_VERIFIER, [key] * len(nonces), binders, self.proofs * self.system.verifier_random)

    def challenge_parts(
        self, server: int, blinds: Sequence[bytes], nonces: Sequence[bytes], measurements: Elements
    ) -> list[bytes]:
        """Return what a server's share of each measurement contributes to the circuit's challenges."""
        encoded = self.system.circuit.field.encode(measurements)
        binders = (
            bytes([server]) + nonce + row.tobytes() for nonce, row in zip(nonces, encoded, strict=True)
        )  # one at a time: a share may have megabytes
        tag = self._tag(_CHALLENGE_PART)
        return [xof.derive(blind, tag, binder) for blind, binder in zip(blinds, binders, strict=True)]

    def challenge_seed(self, parts: Sequence[bytes]) -> bytes:
        """Return the seed of one report's challenges, from the parts of all servers."""
        return xof.derive(bytes(xof.SEED), self._tag(_CHALLENGE_SEED), b"".join(parts))

    def challenges(self, seeds: Sequence[bytes]) -> Elements:
        """Return the circuit's challenges."""
        binders = [bytes([self.proofs])] * len(seeds)
        return self._vectors(_CHALLENGES, seeds, binders, self.proofs * self.system.circuit.challenges)

    def _vectors(self, usage: int, seeds: Sequence[bytes], binders: Sequence[bytes], length: int) -> Elements:
        return xof.expand(self.system.circuit.field, seeds, self._tag(usage), binders, length)

    def _tag(self, usage: int) -> bytes:
        return bytes([VERSION, _VDAF]) + self.algorithm.to_bytes(4, "big") + usage.to_bytes(2, "big") + self.context
