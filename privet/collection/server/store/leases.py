"""The lease on computing the next round, kept in the database: one collector computes, and all report on it.

Whoever holds the lease renews it every few seconds; a lease that is not renewed is free again.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from privet.collection.server.store.database import LEASES, StudyRows

__all__ = ["RENEWAL_SECONDS", "Lease", "Leases"]

RENEWAL_SECONDS = 3.0
_LIFETIME = 20  # seconds without a renewal, after which the lease is free
_GONE = "The collector that computed the round stopped."


@dataclass(frozen=True)
class Lease:
    """The last lease on computing a round.

    Attributes:
        number: The number of the round that is computed.
        since: When it was taken, in seconds since 1970.
        renewed: The last renewal, in seconds since 1970; 0 if it was given back.
        problem: A sentence that says why the computation failed; empty if it did not.
    """

    number: int
    since: int
    renewed: int
    problem: str

    def is_held(self, now: float) -> bool:
        """Tell whether somebody holds the lease at this time."""
        return now - self.renewed < _LIFETIME

    def failure(self, now: float) -> str:
        """Say why the computation failed; empty if it runs or succeeded."""
        return _GONE if self.renewed and not self.is_held(now) else self.problem


class Leases(StudyRows):
    """The leases of a study."""

    def take(self, number: int, now: float) -> bool:
        """Take the lease on computing a round; False if somebody holds it."""
        self.lock(alone=True)
        last = self.last()
        if last is not None and last.is_held(now):
            return False
        self.connection.execute(sa.delete(LEASES).where(self._own))
        begun = {"chain": self.chain, "round": number, "since": int(now), "renewed": int(now), "problem": ""}
        self.connection.execute(sa.insert(LEASES).values(**begun))
        return True

    def renew(self, now: float) -> None:
        """Hold the lease for some more seconds."""
        self.connection.execute(sa.update(LEASES).where(self._own).values(renewed=int(now)))

    def release(self, problem: str) -> None:
        """Give the lease back, with a sentence if the computation failed."""
        self.connection.execute(sa.update(LEASES).where(self._own).values(renewed=0, problem=problem))

    def last(self) -> Lease | None:
        """Return the last lease; None if there was none."""
        query = sa.select(LEASES.c.round, LEASES.c.since, LEASES.c.renewed, LEASES.c.problem).where(self._own)
        found = self.connection.execute(query).one_or_none()
        return None if found is None else Lease(int(found[0]), int(found[1]), int(found[2]), str(found[3]))

    @property
    def _own(self) -> sa.ColumnElement[bool]:
        return LEASES.c.chain == self.chain
