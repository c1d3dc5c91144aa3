"""Two servers in one process: they exchange the real messages, and keep the rules on which a sum's promise rests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import Bits
from privet.release.private import PrivateData
from privet.release.sum import Sum

__all__ = ["Aggregator", "play_sum"]


class Aggregator:
    """One of the two servers: it takes its shares, checks them with the other server, and collects once.

    A report is counted once, a batch has a least size, and a batch is collected once: a second sum over nearly the same
    people would be a second release, for which nobody has paid.

    Args:
        wanted: The sum.
        server: 0 for the leader, 1 for the helper.
        key: The 32 bytes that both servers share and no device knows.
        context: What the reports are for.
        bits: The source of this server's noise, which the other server must not know.
        least: The least number of valid reports of a batch.
    """

    def __init__(self, wanted: Sum, server: int, key: bytes, context: bytes, bits: Bits, least: int) -> None:
        if not 1 <= least <= wanted.people:
            raise InvalidParameter("least", f"from 1 to the {wanted.people:,} people of the sum", least)
        self.wanted, self.server, self.key, self.context, self.least = wanted, server, key, context, least
        self._bits, self._collected = bits, False
        self._reports: dict[bytes, tuple[bytes, bytes]] = {}

    def upload(self, nonce: bytes, public_share: bytes, input_share: bytes) -> None:
        """Take one report's share."""
        if self._collected:
            raise InvalidData("This sum is collected already; a report that comes later is not counted.")
        if nonce in self._reports:
            raise InvalidData("This report is here already; it counts once.")
        if len(self._reports) >= self.wanted.people:
            raise InvalidData(f"The noise of this sum counts on at most {self.wanted.people:,} people; it is full.")
        self._reports[nonce] = (public_share, input_share)

    @property
    def nonces(self) -> list[bytes]:
        """The names of the reports, in the order that both servers use."""
        return sorted(self._reports)

    def verifier_shares(self, nonces: Sequence[bytes]) -> list[bytes | None]:
        """Begin to check the batch, and return what the other server needs.

        Args:
            nonces: The other server's reports; both must have the same ones.
        """
        if list(nonces) != self.nonces:
            raise InvalidData("The two servers do not have the same reports. Wait until both have all of them.")
        public, shares = zip(*(self._reports[nonce] for nonce in nonces), strict=True) if nonces else ((), ())
        prio3 = self.wanted.prio3
        self._state, sent = prio3.verify_init(self.key, self.context, self.server, list(nonces), public, shares)
        return sent

    def noisy_share(self, own: Sequence[bytes | None], other: Sequence[bytes | None]) -> tuple[bytes, int]:
        """Decide with both servers' verifier shares; return this server's sum with its noise, and the reports in it.

        Args:
            own: What :meth:`verifier_shares` returned.
            other: What the other server sent.
        """
        if self._collected:
            raise InvalidData("This sum is collected already. A second one would tell more than was promised.")
        both = [own, other] if self.server == 0 else [other, own]
        messages, _ = self.wanted.prio3.verifier_messages(self.context, both)
        batch = self.wanted.prio3.verify_next(self._state, messages)
        valid = int(batch.accepted.sum())
        if valid < self.least:
            raise InvalidData(f"The batch has {valid} valid reports, and {self.least} are needed before it is summed.")
        self._collected = True
        return self.wanted.with_noise(self.wanted.prio3.aggregate(batch), self._bits), valid


def play_sum(
    wanted: Sum, private: PrivateData, bits: tuple[Bits, Bits], *, context: bytes = b"privet", least: int = 1
) -> tuple[NDArray[np.float64], int]:
    """Play all devices and both servers, and return the noisy sum and the number of reports in it.

    Args:
        wanted: The sum.
        private: The raw values of all people.
        bits: The sources of each server's noise.
        context: What the reports are for.
        least: The least number of valid reports.
    """
    key = bits[0].words(4).tobytes()
    servers = [Aggregator(wanted, server, key, context, bits[server], least) for server in range(2)]
    for start in range(0, len(private), 256):  # rows may be wide
        some = private.take(np.arange(start, min(start + 256, len(private))))
        for report in wanted.shard(some, context):
            for server, share in zip(servers, report.input_shares, strict=True):
                server.upload(report.nonce, report.public_share, share)
    sent = [server.verifier_shares(other.nonces) for server, other in zip(servers, servers[::-1], strict=True)]
    leader, helper = (server.noisy_share(sent[i], sent[1 - i]) for i, server in enumerate(servers))
    if leader[1] != helper[1]:
        raise InvalidData("The two servers count different reports as valid; their sums do not belong together.")
    return wanted.result([leader[0], helper[0]]), leader[1]
