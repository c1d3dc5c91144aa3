"""Sharding: a client divides each measurement and its proof among the servers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privet.vdaf.derivation import Derivation
from privet.vdaf.fields import Elements
from privet.vdaf.instance import Instance
from privet.vdaf.messages import Report, joined
from privet.vdaf.xof import SEED

__all__ = ["shard_block"]


def shard_block(
    instance: Instance, derive: Derivation, inputs: Elements, nonces: Sequence[bytes], random: Sequence[bytes]
) -> list[Report]:
    """Return a report of each encoded measurement.

    Args:
        instance: The instance.
        derive: Its derivations.
        inputs: The encoded measurements.
        nonces: A nonce a report.
        random: The random bytes of each report.
    """
    field, helpers = instance.circuit.field, range(1, instance.shares)
    columns = [[row[i : i + SEED] for row in random] for i in range(0, instance.random_size, SEED)]
    blinded = 2 if instance.circuit.challenges else 1  # seeds of a helper: its share and, with challenges, its blind
    seeds, blinds = columns[: blinded * len(helpers) : blinded], columns[1 : blinded * len(helpers) : blinded]
    *leader_blind, prover_seeds = columns[blinded * len(helpers) :]

    leader, parts = inputs, []
    for helper in helpers:
        share = derive.helper_measurements(helper, seeds[helper - 1])
        leader = field.subtract(leader, share)
        if instance.circuit.challenges:
            parts.append(derive.challenge_parts(helper, blinds[helper - 1], nonces, share))
    public = [b""] * len(inputs)
    challenges = field.zeros(len(inputs), 0)
    if instance.circuit.challenges:
        parts.insert(0, derive.challenge_parts(0, leader_blind[0], nonces, leader))
        public = [b"".join(row) for row in zip(*parts, strict=True)]
        challenges = derive.challenges([derive.challenge_seed(row) for row in zip(*parts, strict=True)])

    random_elements = derive.prover_random(prover_seeds)
    proofs = np.concatenate(
        [
            instance.system.prove(inputs, instance.of_proof(random_elements, i), instance.of_proof(challenges, i))
            for i in range(instance.proofs)
        ],
        axis=1,
    )
    for helper in helpers:
        proofs = field.subtract(proofs, derive.helper_proofs(helper, seeds[helper - 1]))

    vectors = field.encode(np.concatenate([leader, proofs], axis=1))
    shares = [joined(vectors, *leader_blind)]
    shares += [[b"".join(row) for row in zip(*columns[i : i + blinded], strict=True)]
               for i in range(0, blinded * len(helpers), blinded)]  # fmt: skip
    return [Report(nonce, told, tuple(row)) for nonce, told, *row in zip(nonces, public, *shares, strict=True)]
