"""The reports that a round's participants may send: who sends which, and whether a device can have made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.collection.study.manifest import Study
from privet.collection.study.open_answers import OpenData, OpenForm
from privet.errors import InvalidReports
from privet.release import Answers, LocalRelease

__all__ = ["RoundForm"]


@dataclass(frozen=True, eq=False)
class RoundForm:
    """The two forms of a round: answers to its questions, and what a panel shows.

    Attributes:
        study: The round.
        release: Its questions with their public arrays.
        panel: The ids of the panel, ascending; empty without one.
        people: The ids of the people who are asked, ascending; None for everybody but the panel.
    """

    study: Study
    release: LocalRelease
    panel: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    people: NDArray[np.int64] | None = None

    @cached_property
    def longest(self) -> int:
        """The most bytes that a body of this or of a later round can have.

        A collector may be sent reports to a round that it has not noticed yet, and must not call them too long.
        """
        return max(self.study.planned.wire.longest, self._open.record.itemsize if len(self.panel) else 0)

    def everybody(self) -> NDArray[np.int64]:
        """Return the ids of the people from whom a report is expected, ascending."""
        nobody = np.zeros(0, dtype=np.int64)
        asked = reduce(np.intersect1d, self._asked, np.arange(self.study.nodes))
        return np.union1d(self.panel, asked if self.release.questions else nobody)

    @property
    def count(self) -> int:
        """The number of people from whom a report is expected."""
        return len(self.everybody())

    def check(self, users: Sequence[int], bodies: Sequence[bytes]) -> None:
        """Refuse bodies of people who are not asked, and bodies that no device of theirs can have made."""
        self.split(users, bodies)

    def split(self, users: Sequence[int], bodies: Sequence[bytes]) -> tuple[Answers, OpenData]:
        """Read the answers to the questions, and what the panel shows."""
        ids = np.asarray(users, dtype=np.int64)
        if not len(self.panel):
            return self._answers(ids, users, bodies), self._open.unpack([], [])
        shows = np.isin(ids, self.panel)
        rows = shows.tolist()
        opened = [(user, body) for user, body, open_ in zip(users, bodies, rows, strict=True) if open_]
        others = [(user, body) for user, body, open_ in zip(users, bodies, rows, strict=True) if not open_]
        return self._answers(ids[~shows], *_columns(others)), self._open.unpack(*_columns(opened))

    def _answers(self, ids: NDArray[np.int64], users: Sequence[int], bodies: Sequence[bytes]) -> Answers:
        nobody = len(ids) and not self.release.questions
        if nobody or any(not np.isin(ids, asked).all() for asked in self._asked):
            raise InvalidReports("The report is from somebody whom this round does not ask.")
        answers = self.release.wire.unpack(users, bodies)
        for question in self.release.questions:
            part = answers[question.name]
            question.ask.check_answers(part.users, part.reports, question.mechanism)
        return answers

    @cached_property
    def _asked(self) -> list[NDArray[np.int64]]:
        """The lists that somebody who answers must be on: the round's, and each question's own."""
        lists = [self.people, *(question.ask.people() for question in self.release.questions)]
        return [each for each in lists if each is not None]

    @cached_property
    def _open(self) -> OpenForm:
        return OpenForm(self.study.declared)


def _columns(pairs: list[tuple[Any, bytes]]) -> tuple[list[Any], list[bytes]]:
    return [user for user, _ in pairs], [body for _, body in pairs]
