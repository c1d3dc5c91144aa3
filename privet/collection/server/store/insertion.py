"""Reports as rows: one for each node, for ever; what is refused is recorded in the same transaction."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import repeat
from typing import Any

import sqlalchemy as sa

from privet.collection.server.store.database import REPORTS

__all__ = ["Insertion", "Outcome"]

_FEW = 900  # SQLite's smallest limit on the parameters of a statement is 999
# Rows of one INSERT: sqlite3 lets go of the interpreter lock for each, and waits for the event loop to get it back.
_ROWS = (1000, 100, 1) if sqlite3.sqlite_version_info >= (3, 32) else (100, 1)  # older ones take 999 parameters
_INSERT_POSTGRESQL = (
    "INSERT INTO reports (study, node, minute, body) SELECT %s, node, %s, body "
    "FROM unnest(%s::integer[], %s::bytea[]) AS t(node, body) ON CONFLICT DO NOTHING RETURNING node"
)
_RECORD = sa.text(
    "INSERT INTO conflicts (study, node, count, minute) VALUES (:study, :node, :count, :minute) "
    "ON CONFLICT (study, node) DO UPDATE SET count = conflicts.count + excluded.count, minute = excluded.minute"
)


class Outcome(StrEnum):
    """The outcome of a report: new, the same bytes as before, or refused because others are stored or were erased."""

    STORED = "stored"
    REPEATED = "repeated"
    CONFLICT = "conflict"
    ERASED = "erased"


@dataclass(frozen=True)
class Insertion:
    """The rows of one transaction.

    Attributes:
        connection: The transaction's connection.
        study: The study's number in the store.
        minute: The minute of arrival, in seconds since 1970.
    """

    connection: sa.Connection
    study: int
    minute: int

    def of(self, nodes: Sequence[int], bodies: Sequence[bytes]) -> list[Outcome]:
        """Store what is new; a node that has a report keeps it."""
        if self.connection.dialect.name == "postgresql":
            return self._sorted_out(nodes, bodies, self._insert_returning(nodes, bodies))
        # All are new almost always; only otherwise is it worth asking which are not. SQLite counts, but names none.
        with self.connection.begin_nested() as attempt:
            if self._insert_counting(nodes, bodies) == len(nodes):
                return [Outcome.STORED] * len(nodes)
            attempt.rollback()
        new = set(nodes) - set(self.stored(nodes))
        self._insert_counting(nodes, bodies)
        return self._sorted_out(nodes, bodies, new)

    def _insert_returning(self, nodes: Sequence[int], bodies: Sequence[bytes]) -> set[int]:
        """Return the nodes that are new. In their order, so that two collectors wait instead of locking up."""
        order = sorted(range(len(nodes)), key=nodes.__getitem__)
        parameters = (self.study, self.minute, [nodes[row] for row in order], [bodies[row] for row in order])
        return {int(node) for node in self.connection.exec_driver_sql(_INSERT_POSTGRESQL, parameters).scalars()}

    def _insert_counting(self, nodes: Sequence[int], bodies: Sequence[bytes]) -> int:
        """Count the rows that are new."""
        count, start = 0, 0
        for rows in _ROWS:
            for end in range(start + rows, len(nodes) + 1, rows):
                parameters: list[Any] = [self.study, self.minute, *repeat(None, 2 * rows)]
                parameters[2::2] = nodes[start:end]
                parameters[3::2] = bodies[start:end]
                count += self.connection.exec_driver_sql(_insert_sqlite(rows), tuple(parameters)).rowcount
                start = end
        return count

    def _sorted_out(self, nodes: Sequence[int], bodies: Sequence[bytes], new: set[int]) -> list[Outcome]:
        if len(new) == len(nodes):
            return [Outcome.STORED] * len(nodes)
        stored = self.stored(nodes)
        outcomes = []
        refused: Counter[int] = Counter()
        for node, body in zip(nodes, bodies, strict=True):
            if stored[node] == body:
                outcomes.append(Outcome.STORED if node in new else Outcome.REPEATED)
                new.discard(node)
            else:
                outcomes.append(Outcome.CONFLICT)
                refused[node] += 1
        self._record(refused)
        return outcomes

    def _record(self, refused: Counter[int]) -> None:
        """Write one row a node, however often it tries: how often, and the last time."""
        rows = [
            {"study": self.study, "node": node, "count": count, "minute": self.minute}
            for node, count in sorted(refused.items())
        ]
        if rows:
            self.connection.execute(_RECORD, rows)

    def stored(self, nodes: Sequence[int]) -> dict[int, bytes]:
        """Return the bodies of those of the nodes that have reported."""
        found: dict[int, bytes] = {}
        distinct = sorted(set(nodes))
        for start in range(0, len(distinct), _FEW):
            query = sa.select(REPORTS.c.node, REPORTS.c.body).where(
                REPORTS.c.study == self.study, REPORTS.c.node.in_(distinct[start : start + _FEW])
            )
            found.update((int(node), bytes(body)) for node, body in self.connection.execute(query))
        return found


@cache
def _insert_sqlite(rows: int) -> str:
    values = ", ".join(f"(?1, ?{3 + 2 * row}, ?2, ?{4 + 2 * row})" for row in range(rows))
    return f"INSERT INTO reports (study, node, minute, body) VALUES {values} ON CONFLICT DO NOTHING"
