"""Prio3: sums over reports that no server sees, with proofs that each report is valid (VDAF draft 20)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidParameter
from privet.vdaf.fields import Elements
from privet.vdaf.instance import NONCE, Instance
from privet.vdaf.messages import Reader, Refused, Report
from privet.vdaf.sharding import shard_block
from privet.vdaf.verification import Verified, Verifying, verify_block
from privet.vdaf.xof import SEED

__all__ = ["Prio3"]

_BLOCK = 64  # reports that are worked on at once: few enough for the cache, enough to hide the calls


class Prio3(Instance):
    """Shard measurements, verify and add reports, and put the result together.

    Every method takes a batch of reports; a bad one spoils no other.
    """

    # A client.

    def shard(
        self,
        context: bytes,
        measurements: Sequence[Any] | NDArray[Any],
        nonces: Sequence[bytes] | None = None,
        random: Sequence[bytes] | None = None,
    ) -> list[Report]:
        """Return a report of each measurement.

        Args:
            context: The application; clients and servers must agree on it.
            measurements: What the circuit takes.
            nonces: 16 bytes a report; the operating system's by default.
            random: ``random_size`` bytes a report, for vectors that are known; the operating system's by default.

        Raises:
            InvalidData: If a measurement is not one that the circuit accepts; then there is no report at all.
        """
        inputs = self.circuit.encode(measurements)
        nonces = [os.urandom(NONCE) for _ in inputs] if nonces is None else nonces
        random = [os.urandom(self.random_size) for _ in inputs] if random is None else random
        _check_sizes("nonces", nonces, len(inputs), NONCE)
        _check_sizes("random", random, len(inputs), self.random_size)
        derive = self.derivation(context)
        blocks = (shard_block(self, derive, inputs[b], nonces[b], random[b]) for b in _blocks(len(inputs)))
        return [report for block in blocks for report in block]

    # A server.

    def verify_init(
        self,
        key: bytes,
        context: bytes,
        server: int,
        nonces: Sequence[bytes],
        public_shares: Sequence[bytes],
        input_shares: Sequence[bytes],
    ) -> tuple[Verifying, list[bytes | None]]:
        """Begin to check a batch.

        Args:
            key: 32 secret bytes that all servers share and no client knows.
            context: The application.
            server: The number of this server; 0 is the leader.
            nonces: The reports' nonces.
            public_shares: The reports' public shares.
            input_shares: This server's input shares.

        Returns:
            What to keep, and a verifier share of each report for the other servers, None if it is refused.
        """
        if len(key) != SEED:
            raise InvalidParameter("key", f"{SEED} bytes long", f"{len(key)} bytes")
        if not 0 <= server < self.shares:
            raise InvalidParameter("server", f"from 0 to {self.shares - 1}", server)
        if not len(nonces) == len(public_shares) == len(input_shares):
            raise InvalidParameter("Each report needs a nonce, a public share and an input share.")
        derive = self.derivation(context)
        outputs = [self.circuit.field.zeros(0, self.circuit.output_length)]
        seeds: list[bytes] = []
        messages: list[bytes | None] = []
        refused: Refused = {}
        for b in _blocks(len(nonces)):
            state, sent = verify_block(self, derive, key, server, nonces[b], public_shares[b], input_shares[b])
            outputs.append(state.outputs)
            seeds += state.seeds
            messages += sent
            refused |= {b.start + place: reason for place, reason in state.refused.items()}
        return Verifying(np.concatenate(outputs), tuple(seeds), refused), messages

    def verifier_messages(
        self, context: bytes, verifier_shares: Sequence[Sequence[bytes | None]]
    ) -> tuple[list[bytes | None], Refused]:
        """Decide which reports are valid (the draft's ``verifier_shares_to_message``).

        Args:
            context: The application.
            verifier_shares: For each server in turn its verifier shares.

        Returns:
            A message of each report for all servers, None if it is refused, and why reports are refused.
        """
        if len(verifier_shares) != self.shares or len({len(shares) for shares in verifier_shares}) != 1:
            raise InvalidParameter(f"Each report needs a verifier share of each of the {self.shares} servers.")
        field, refused, derive = self.circuit.field, Refused(), self.derivation(context)
        length = self.proofs * self.system.verifier_length
        total, parts = field.zeros(len(verifier_shares[0]), length), []
        for shares in verifier_shares:
            reader = Reader(shares, self.verifier_share_size, "verifier share", refused)
            total = field.add(total, reader.vectors(field, length))
            parts.append(reader.seeds() if self.circuit.challenges else [])
        for i in range(self.proofs):
            for place in np.flatnonzero(~self.system.decide(self.of_proof(total, i))):
                refused.setdefault(int(place), "The proof does not hold: the measurement is not valid.")
        seeds = [b""] * len(total)
        if self.circuit.challenges:
            seeds = [derive.challenge_seed(row) for row in zip(*parts, strict=True)]
        return [None if place in refused else seed for place, seed in enumerate(seeds)], refused

    def verify_next(self, state: Verifying, messages: Sequence[bytes | None]) -> Verified:
        """End the check of a batch.

        Args:
            state: What :meth:`verify_init` returned.
            messages: What :meth:`verifier_messages` returned.
        """
        if len(messages) != len(state.seeds):
            raise InvalidParameter("Each report that is verified needs a verifier message, or None if it was refused.")
        refused = dict(state.refused)
        for place, (message, seed) in enumerate(zip(messages, state.seeds, strict=True)):
            if message is None:
                refused.setdefault(place, "The proof does not hold: the measurement is not valid.")
            elif message != seed:
                refused.setdefault(place, "The servers do not agree on the challenges: the public share is wrong.")
        return Verified(state.outputs, refused)

    def aggregate(self, batch: Verified) -> bytes:
        """Return a server's aggregate share of the valid reports of a batch."""
        return self._encoded(self.circuit.field.total(batch.outputs[batch.accepted]))

    # The collector.

    def merge(self, aggregate_shares: Sequence[bytes]) -> bytes:
        """Return the sum of aggregate shares, of several batches or of several servers."""
        field, length = self.circuit.field, self.circuit.output_length
        return self._encoded(field.total(field.read(aggregate_shares, length, "aggregate share")))

    def unshard(self, aggregate_shares: Sequence[bytes]) -> Any:
        """Return the aggregate result.

        Args:
            aggregate_shares: One aggregate share of each server.
        """
        if len(aggregate_shares) != self.shares:
            raise InvalidParameter(f"The result needs an aggregate share of each of the {self.shares} servers.")
        total = self.circuit.field.read([self.merge(aggregate_shares)], self.circuit.output_length, "aggregate share")
        return self.circuit.decode(self.circuit.field.integers(total[0]))

    def _encoded(self, total: Elements) -> bytes:
        return bytes(self.circuit.field.encode(total)[0])


def _blocks(count: int) -> Iterator[slice]:
    return (slice(start, min(start + _BLOCK, count)) for start in range(0, count, _BLOCK))


def _check_sizes(name: str, messages: Sequence[bytes], count: int, size: int) -> None:
    if len(messages) != count or any(len(message) != size for message in messages):
        raise InvalidParameter(name, f"{size} bytes for each of the {count} measurements", f"{len(messages)} messages")
