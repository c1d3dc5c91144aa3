"""Verification: a server checks its shares of measurements and proofs, and keeps what it will sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet.vdaf.derivation import Derivation
from privet.vdaf.fields import Elements
from privet.vdaf.instance import NONCE, Instance
from privet.vdaf.messages import Reader, Refused, joined

__all__ = ["Verified", "Verifying", "verify_block"]


@dataclass(frozen=True)
class Verifying:
    """The state of a batch that a server keeps while it waits for the message of all servers' shares.

    Attributes:
        outputs: Its shares of what is summed, one row a report.
        seeds: The seed of each report's challenges as the client told them; empty without challenges.
        refused: Why reports are refused, by their place.
    """

    outputs: Elements
    seeds: tuple[bytes, ...]
    refused: Refused


@dataclass(frozen=True)
class Verified:
    """A server's shares of a batch whose proofs were checked.

    Attributes:
        outputs: Shares of what is summed, one row a report, also those that are refused.
        refused: Why reports are refused, by their place.
    """

    outputs: Elements
    refused: Refused

    @property
    def accepted(self) -> NDArray[np.bool_]:
        """Which reports are valid."""
        found = np.ones(len(self.outputs), np.bool_)
        found[list(self.refused)] = False
        return found


def verify_block(
    instance: Instance,
    derive: Derivation,
    key: bytes,
    server: int,
    nonces: Sequence[bytes],
    public_shares: Sequence[bytes],
    input_shares: Sequence[bytes],
) -> tuple[Verifying, list[bytes | None]]:
    """Return what a server keeps of some reports, and its verifier shares.

    Args:
        instance: The instance.
        derive: Its derivations.
        key: The servers' common key.
        server: The number of this server.
        nonces: The reports' nonces.
        public_shares: Their public shares.
        input_shares: This server's input shares.
    """
    field, refused = instance.circuit.field, Refused()
    for place, nonce in enumerate(nonces):
        if len(nonce) != NONCE:
            refused[place] = f"The nonce has {len(nonce)} bytes, and {NONCE} are needed."
    public = Reader(public_shares, instance.public_share_size, "public share", refused)
    share = Reader(input_shares, instance.input_share_size(server), "input share", refused)
    if server == 0:
        inputs = share.vectors(field, instance.circuit.input_length)
        proofs = share.vectors(field, instance.proofs * instance.system.proof_length)
    else:
        seeds = share.seeds()
        inputs, proofs = derive.helper_measurements(server, seeds), derive.helper_proofs(server, seeds)

    challenges, told, own = field.zeros(len(inputs), 0), [b""] * len(inputs), [b""] * len(inputs)
    if instance.circuit.challenges:
        own = derive.challenge_parts(server, share.seeds(), nonces, inputs)
        parts = [public.seeds() for _ in range(instance.shares)]
        parts[server] = own  # a client may lie about other servers' parts only, which is noticed in the end
        told = [derive.challenge_seed(row) for row in zip(*parts, strict=True)]
        challenges = derive.challenges(told)

    random = derive.verifier_random(key, nonces)
    verifiers = []
    for i in range(instance.proofs):
        of_proof = (instance.of_proof(proofs, i), instance.of_proof(random, i), instance.of_proof(challenges, i))
        verifier, useless = instance.system.query(inputs, *of_proof, instance.shares)
        verifiers.append(verifier)
        for position in np.flatnonzero(useless):  # once in 2^50 reports
            refused.setdefault(int(position), "The random point of the check is a root of unity.")
    sent = joined(field.encode(np.concatenate(verifiers, axis=1)), own)
    messages = [None if place in refused else message for place, message in enumerate(sent)]
    return Verifying(instance.circuit.truncate(inputs), tuple(told), refused), messages
