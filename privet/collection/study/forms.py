"""The reports that a round's participants may send: who sends which, and whether a device can have made it.

A member of a panel sends features and class as they are, and nothing is protected: the body is the features as float64
and the class as int32, little-endian; where the panel shows friends too, their ids follow as int32, ascending. People
who show their data agreed to it, and are asked nothing else about their features; a system may learn from them what to
ask others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.collection.study.manifest import Study
from privet.data import Categories, Schema
from privet.errors import InvalidReports
from privet.release import Answers, LocalRelease

__all__ = ["OpenData", "OpenForm", "RoundForm"]


@dataclass(frozen=True, eq=False)
class OpenData:
    """The features and classes that some people show.

    Attributes:
        users: Their ids, ascending.
        features: One row for each of them.
        labels: Their classes.
        lists: One row of the adjacency matrix for each of them; None if they do not show their friends.
    """

    users: NDArray[np.int64]
    features: NDArray[np.float64]
    labels: NDArray[np.int64]
    lists: sp.csr_array | None = None


@dataclass(frozen=True)
class OpenForm:
    """The bytes of one person's open answers.

    Attributes:
        schema: The declared domains, which the answers must lie in.
        people: The number of people, where friends are shown too; None where they are not.
    """

    schema: Schema
    people: int | None = None

    @classmethod
    def of(cls, study: Study) -> OpenForm:
        """Return the form of a study's panel."""
        return cls(study.declared, study.nodes if study.shows_friends else None)

    @property
    def longest(self) -> int:
        """The most bytes that a body can have."""
        return self.record.itemsize + (0 if self.people is None else 4 * (self.people - 1))

    @property
    def record(self) -> np.dtype[np.void]:
        """The fields of a body."""
        return np.dtype([("features", "<f8", (self.schema.dimension,)), ("label", "<i4")])

    def pack(self, features: Sequence[float], label: int, friends: Sequence[int] = (), user: int = -1) -> bytes:
        """Return the body of one person's answers; values outside their domains are refused.

        Args:
            features: The features.
            label: The class.
            friends: The ids of the person's friends, where they are shown (default: none).
            user: The person's own id, which cannot be a friend's (default: not known).
        """
        record = np.zeros(1, dtype=self.record)
        record["features"], record["label"] = np.asarray(features, dtype=np.float64), label
        listed = np.unique(np.asarray(friends, dtype="<i4")) if self.people is not None else np.zeros(0, dtype="<i4")
        body = record.tobytes() + listed.tobytes()
        self.unpack([user], [body])
        return body

    def unpack(self, users: Sequence[int], bodies: Sequence[bytes]) -> OpenData:
        """Read bodies, if everything in them lies in its declared domain."""
        size = self.record.itemsize
        exact = self.people is None
        odd = next((len(body) for body in bodies if len(body) != size and (exact or not self._is_long(body))), None)
        if odd is not None:
            raise InvalidReports(
                "open answers", f"{size} bytes long{'' if exact else ', with four more a friend'}", odd
            )
        records = np.frombuffer(b"".join(body[:size] for body in bodies), dtype=self.record)
        features, labels = records["features"].astype(np.float64), records["label"].astype(np.int64)
        inside = (features >= self.schema.low) & (features <= self.schema.high)
        codes = np.array([isinstance(domain, Categories) for domain in self.schema.features], dtype=np.bool_)
        whole = inside & (~codes | (features == np.floor(features)))
        if not whole.all():
            row, column = np.argwhere(~whole)[0]
            raise InvalidReports(
                "open answers", f"in the declared domains, also feature {column}", features[row, column]
            )
        if len(labels) and not 0 <= labels.min() <= labels.max() < self.schema.classes:
            raise InvalidReports(f"Somebody shows a class that is not one of 0 to {self.schema.classes - 1}.")
        ids = np.asarray(users, dtype=np.int64)
        return OpenData(ids, features, labels, None if exact else self._lists(ids, [body[size:] for body in bodies]))

    def _is_long(self, body: bytes) -> bool:
        return self.record.itemsize <= len(body) <= self.longest and (len(body) - self.record.itemsize) % 4 == 0

    def _lists(self, users: NDArray[np.int64], tails: Sequence[bytes]) -> sp.csr_array:
        """Return the friends that follow in each body."""
        starts = np.concatenate([[0], np.cumsum([len(tail) // 4 for tail in tails])]).astype(np.int64)
        listed = np.frombuffer(b"".join(tails), dtype="<i4").astype(np.int64)
        rows = np.repeat(np.arange(len(tails)), np.diff(starts))
        ascending = (np.diff(listed) > 0) | (np.diff(rows) > 0)
        people = self.people or 0
        if ((listed < 0) | (listed >= people) | (listed == users[rows])).any() or not ascending.all():
            raise InvalidReports(f"Somebody shows friends who are not different other people from 0 to {people - 1}.")
        return sp.csr_array((np.ones(len(listed), dtype=np.float32), listed, starts), shape=(len(tails), people))


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
        return max(self.study.planned.wire.longest, self._open.longest if len(self.panel) else 0)

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
        return OpenForm.of(self.study)


def _columns(pairs: list[tuple[Any, bytes]]) -> tuple[list[Any], list[bytes]]:
    return [user for user, _ in pairs], [body for _, body in pairs]
