"""Turns at computing the next round, kept in the database: of several collectors, one computes, and all tell of it."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from privet.collection.server.store.erasure import Erasures
from privet.collection.server.store.tables import TURNS

__all__ = ["BEAT_SECONDS", "Turn", "Turns"]

BEAT_SECONDS = 3.0  # between two signs of life of whoever computes
_SILENT = 20  # seconds without one, after which nobody computes any more
_GONE = "The collector that computed the round stopped."


@dataclass(frozen=True)
class Turn:
    """The last turn at computing a round.

    Attributes:
        number: The number of the round that it computes.
        since: Its beginning, in seconds since 1970.
        beat: The last sign of life, in seconds since 1970; 0 if it is over.
        problem: A sentence that says why it failed; empty if it did not.
    """

    number: int
    since: int
    beat: int
    problem: str

    def runs(self, now: float) -> bool:
        """Tell whether somebody computes at this time."""
        return now - self.beat < _SILENT

    def trouble(self, now: float) -> str:
        """Say why it failed; empty if it runs or succeeded."""
        return _GONE if self.beat and not self.runs(now) else self.problem


@dataclass(frozen=True)
class Turns:
    """The turns of one study, within one transaction.

    Attributes:
        connection: The transaction's connection.
        chain: The id of the study's first round.
    """

    connection: sa.Connection
    chain: str

    def take(self, number: int, now: float) -> bool:
        """Take the turn of computing a round; False if somebody has it."""
        Erasures(self.connection, self.chain).lock(alone=True)
        last = self.last()
        if last is not None and last.runs(now):
            return False
        self.connection.execute(sa.delete(TURNS).where(self._own))
        begun = {"chain": self.chain, "round": number, "since": int(now), "beat": int(now), "problem": ""}
        self.connection.execute(sa.insert(TURNS).values(**begun))
        return True

    def beat(self, now: float) -> None:
        """Give a sign of life."""
        self.connection.execute(sa.update(TURNS).where(self._own).values(beat=int(now)))

    def end(self, problem: str) -> None:
        """End the turn, with a sentence if it failed."""
        self.connection.execute(sa.update(TURNS).where(self._own).values(beat=0, problem=problem))

    def last(self) -> Turn | None:
        """Return the last turn; None if there was none."""
        query = sa.select(TURNS.c.round, TURNS.c.since, TURNS.c.beat, TURNS.c.problem).where(self._own)
        found = self.connection.execute(query).one_or_none()
        return None if found is None else Turn(int(found[0]), int(found[1]), int(found[2]), str(found[3]))

    @property
    def _own(self) -> sa.ColumnElement[bool]:
        return TURNS.c.chain == self.chain
