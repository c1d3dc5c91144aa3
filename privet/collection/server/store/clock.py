"""The clock as a study's collectors have seen it run: what the clock alone decides needs one that can be believed.

A clock that was wrong for three seconds must not delete what people sent. The database therefore remembers the time
that was seen last, and since when it has run on without a jump.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from privet.collection.server.store.database import CLOCKS, StudyRows

__all__ = ["LONGEST_BACK", "LONGEST_STEP", "PROBATION", "Clock", "Reading"]

LONGEST_STEP = 3600
"""The most seconds between two looks at a clock that has not jumped; a collector looks once a minute."""

LONGEST_BACK = 300
"""The most seconds by which one collector's clock may be behind another's."""

PROBATION = 6 * 3600
"""The seconds for which a clock must have run on without a jump before it is believed."""


@dataclass(frozen=True)
class Reading:
    """A look at the clock.

    Attributes:
        now: The time, in seconds since 1970.
        settled: The time from which the clock has run on without a jump.
    """

    now: int
    settled: int

    @property
    def is_believed(self) -> bool:
        """True if the clock has run on for hours without a jump."""
        return self.now - self.settled >= PROBATION

    def ran_through(self, moment: float) -> bool:
        """Tell whether a moment passed while the clock ran on."""
        return self.settled < moment <= self.now


class Clock(StudyRows):
    """The clock of a study's collectors."""

    def look(self, now: int) -> Reading:
        """Note the time, and return it with the time from which the clock has run on.

        An outage looks like a jump: the time between is vouched for by nobody.
        """
        query = sa.select(CLOCKS.c.seen, CLOCKS.c.settled).where(CLOCKS.c.chain == self.chain)
        last = self.connection.execute(query).one_or_none()
        runs_on = last is not None and -LONGEST_BACK <= now - last.seen <= LONGEST_STEP
        settled = int(last.settled) if last is not None and runs_on else now
        sql = (
            "INSERT INTO clocks (chain, seen, settled) VALUES (:chain, :seen, :settled) "
            "ON CONFLICT (chain) DO UPDATE SET seen = excluded.seen, settled = excluded.settled"
        )
        self.connection.execute(sa.text(sql), {"chain": self.chain, "seen": now, "settled": settled})
        return Reading(now, settled)
