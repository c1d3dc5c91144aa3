"""Messages of Prio3 as bytes, many of one kind at once.

A message of the wrong length, or with a number that is not below the prime, is refused by itself: the reason is noted
under its place, and what is computed there counts for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privet.vdaf.fields import Bytes, Elements, Field
from privet.vdaf.xof import SEED

__all__ = ["Reader", "Refused", "Report", "joined", "seeds_in"]

Refused = dict[int, str]
"""Why reports are refused, by their place in the batch."""


@dataclass(frozen=True)
class Report:
    """The message that a client makes of one measurement.

    Attributes:
        nonce: 16 random bytes that name the report.
        public_share: What all servers get.
        input_shares: What each server alone gets, the leader's first.
    """

    nonce: bytes
    public_share: bytes
    input_shares: tuple[bytes, ...]


class Reader:
    """Reads the parts of messages of one length, one after the other.

    Args:
        messages: The messages; None for those that do not exist, which are refused already.
        size: The bytes that each must have.
        what: Their name in reasons, such as "public share".
        refused: The reasons known so far; more are added.
    """

    def __init__(self, messages: Sequence[bytes | None], size: int, what: str, refused: Refused) -> None:
        rows = []
        for place, message in enumerate(messages):
            if message is None:
                refused.setdefault(place, f"The {what} is missing.")
            elif len(message) != size:
                refused.setdefault(place, f"The {what} has {len(message)} bytes, and {size} are needed.")
            rows.append(message if message is not None and len(message) == size else bytes(size))
        self._left: Bytes = np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), size)
        self._what, self._refused = what, refused

    def vectors(self, field: Field, length: int) -> Elements:
        """Read a vector of each message."""
        elements = field.decode(self._next(length * field.size))
        wrong = field.overflows(elements).any(axis=1)
        for place in np.flatnonzero(wrong):
            reason = f"The {self._what} holds a number that is not below the field's prime."
            self._refused.setdefault(int(place), reason)
        return elements

    def seeds(self) -> list[bytes]:
        """Read a seed of each message."""
        return seeds_in(self._next(SEED))

    def _next(self, size: int) -> Bytes:
        found, self._left = self._left[:, :size], self._left[:, size:]
        return found


def seeds_in(rows: Bytes) -> list[bytes]:
    """Return rows as bytes."""
    return [row.tobytes() for row in rows]


def joined(vectors: Bytes, *seeds: Sequence[bytes]) -> list[bytes]:
    """Return messages of an encoded vector and seeds, one row a report."""
    return [b"".join((row.tobytes(), *more)) for row, *more in zip(vectors, *seeds, strict=True)]
