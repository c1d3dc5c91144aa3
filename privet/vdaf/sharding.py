"""Sharding: a client divides each measurement and its proof among the servers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    field, seeds = instance.circuit.field, _Seeds.of(instance, random)
    leader, parts = inputs, []
    for helper, share_seeds in enumerate(seeds.helpers, start=1):
        share = derive.helper_measurements(helper, share_seeds)
        leader = field.subtract(leader, share)
        if seeds.blinds:
            parts.append(derive.challenge_parts(helper, seeds.blinds[helper], nonces, share))
    if seeds.blinds:
        parts.insert(0, derive.challenge_parts(0, seeds.blinds[0], nonces, leader))
    public = _rows(parts, len(inputs))

    proofs = _proofs(instance, derive, inputs, seeds.prover, public)
    for helper, share_seeds in enumerate(seeds.helpers, start=1):
        proofs = field.subtract(proofs, derive.helper_proofs(helper, share_seeds))

    vectors = field.encode(np.concatenate([leader, proofs], axis=1))
    shares = [joined(vectors, *seeds.blinds[:1])]
    for helper, share_seeds in enumerate(seeds.helpers, start=1):
        shares.append(_rows([share_seeds, *seeds.blinds[helper : helper + 1]], len(inputs)))
    return [Report(nonce, told, tuple(row)) for nonce, told, *row in zip(nonces, public, *shares, strict=True)]


@dataclass(frozen=True)
class _Seeds:
    """The random bytes of some reports, by what they are for.

    Attributes:
        helpers: For each helper in turn, the seeds of its shares.
        blinds: For each server in turn, the leader first, what hides its share in the public share; empty without
            challenges.
        prover: The seeds of the prover's random elements.
    """

    helpers: list[list[bytes]]
    blinds: list[list[bytes]]
    prover: list[bytes]

    @classmethod
    def of(cls, instance: Instance, random: Sequence[bytes]) -> _Seeds:
        """Divide random bytes: the helpers' first, share and blind in turn, then the leader's and the prover's."""
        columns = [[row[i : i + SEED] for row in random] for i in range(0, instance.random_size, SEED)]
        *others, prover = columns
        if not instance.circuit.challenges:
            return cls(others, [], prover)
        *others, leader = others
        return cls(others[::2], [leader, *others[1::2]], prover)


def _proofs(
    instance: Instance, derive: Derivation, inputs: Elements, prover_seeds: Sequence[bytes], public: Sequence[bytes]
) -> Elements:
    """Return all proofs of each report, one after the other."""
    challenges = instance.circuit.field.zeros(len(inputs), 0)
    if instance.circuit.challenges:
        challenges = derive.challenges([derive.challenge_seed([parts]) for parts in public])
    random = derive.prover_random(prover_seeds)
    each = range(instance.proofs)
    found = [
        instance.system.prove(inputs, instance.of_proof(random, i), instance.of_proof(challenges, i)) for i in each
    ]
    return np.concatenate(found, axis=1)


def _rows(columns: Sequence[Sequence[bytes]], count: int) -> list[bytes]:
    """Return for each report what stands in its place in each column, put together."""
    return [b"".join(column[place] for column in columns) for place in range(count)]
