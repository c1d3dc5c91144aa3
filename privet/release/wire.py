"""The bytes of one person's answers: the symbols of every report, one after another, and nothing else.

The release fixes every length, so a body needs no header (little-endian throughout). First come the columns of fixed
length, question by question:

    coordinates   int32 x m    which coordinates were sampled; absent if all of them are reported
    symbols       intB  x m    one symbol a coordinate, of the mechanism's own width B

then the columns of any length (int32 each), such as a reported list; all but the last begin with their count (int32).
Equal answers have equal bytes. What is sent, stored and exported is this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidReports
from privet.mechanisms.core.shapes import Column
from privet.release.answers import Answer, Answers

if TYPE_CHECKING:
    from privet.release.local import LocalRelease

__all__ = ["WireColumn", "WireForm"]


@dataclass(frozen=True)
class WireColumn:
    """A column of one question's report, and its name in files."""

    question: str
    column: Column

    @property
    def name(self) -> str:
        """The name in files and records: the question's, with the column's behind it where there are several."""
        return f"{self.question}.{self.column.name}" if self.column.name else self.question

    @property
    def dtype(self) -> np.dtype[Any]:
        """The integers on the wire, little-endian."""
        return self.column.dtype.newbyteorder("<")


@dataclass(frozen=True)
class WireForm:
    """The form of the answers to a release: ``pack`` on a device, ``unpack`` (which validates) on the server.

    Attributes:
        release: The questions.
    """

    release: LocalRelease

    @cached_property
    def columns(self) -> tuple[WireColumn, ...]:
        """All columns, in the order of the questions."""
        return tuple(WireColumn(q.name, column) for q in self.release.questions for column in q.mechanism.shape.columns)

    @cached_property
    def fixed(self) -> tuple[WireColumn, ...]:
        """The columns of fixed length."""
        return tuple(each for each in self.columns if each.column.count is not None)

    @cached_property
    def lists(self) -> tuple[WireColumn, ...]:
        """The columns whose rows differ in length."""
        return tuple(each for each in self.columns if each.column.count is None)

    @cached_property
    def record(self) -> np.dtype[np.void]:
        """The part of a body whose length is fixed."""
        return np.dtype([(each.name, each.dtype, (each.column.count,)) for each in self.fixed])

    @property
    def longest(self) -> int:
        """The most bytes that a body can have."""
        nodes = self.release.population.num_nodes
        return self.record.itemsize + len(self.lists) * 4 * nodes

    def values(self, answers: Answers) -> dict[str, Any]:
        """Return the values of each column, by its name; of a list, row starts and entries."""
        found: dict[str, Any] = {}
        for question in self.release.questions:
            shape = question.mechanism.shape
            parts = shape.split(answers[question.name].reports)
            names = (WireColumn(question.name, column).name for column in shape.columns)
            found |= dict(zip(names, parts, strict=True))
        return found

    def answers(self, users: NDArray[np.int64], values: dict[str, Any]) -> Answers:
        """Make validated answers of the values of each column; every person answered every question."""
        outside = (users < 0) | (users >= self.release.population.num_nodes)
        if outside.any():
            found = f"{users[np.argmax(outside)]} in row {int(np.argmax(outside))}"
            raise InvalidReports("reporting nodes", f"ids below {self.release.population.num_nodes}", found)
        parts = {}
        for question in self.release.questions:
            shape = question.mechanism.shape
            own = [values[WireColumn(question.name, column).name] for column in shape.columns]
            parts[question.name] = Answer(users, question.mechanism.validate(shape.join(own, users)))
        return Answers(self.release, parts)

    def pack(self, answers: Answers) -> list[bytes]:
        """Write one body a person."""
        values = self.values(answers)
        rows = len(next(iter(answers.values())))
        records = np.zeros(rows, dtype=self.record)
        for each in self.fixed:
            records[each.name] = values[each.name]
        whole, size = records.tobytes(), self.record.itemsize
        bodies = [whole[row * size : (row + 1) * size] for row in range(rows)]
        for each in self.lists:
            starts, listed = values[each.name][0], values[each.name][1].astype("<i4")
            last = each is self.lists[-1]
            for row in range(rows):
                own = listed[starts[row] : starts[row + 1]]
                bodies[row] += (b"" if last else np.array(len(own), dtype="<i4").tobytes()) + own.tobytes()
        return bodies

    def unpack(self, nodes: Sequence[int] | NDArray[np.int64], bodies: Sequence[bytes]) -> Answers:
        """Read bodies, if devices that follow the release could have sent every one of them."""
        users = np.asarray(nodes, dtype=np.int64)
        if len(users) != len(bodies):
            raise InvalidReports("reports", f"one for each of {len(users)} nodes", len(bodies))
        return self.answers(users, self._read(bodies))

    def _read(self, bodies: Sequence[bytes]) -> dict[str, Any]:
        """Return the values of each column, if the bodies have the lengths that the release fixes."""
        size = self.record.itemsize
        lengths = np.fromiter(map(len, bodies), dtype=np.int64, count=len(bodies))
        tails = lengths - size
        wrong = ((tails < 0) | (tails % 4 != 0)) if self.lists else tails != 0
        if wrong.any():
            more = " and a multiple of 4 more" if self.lists else ""
            found = f"{lengths[np.argmax(wrong)]} in row {int(np.argmax(wrong))}"
            raise InvalidReports("report", f"{size} bytes long{more}", found)
        values: dict[str, Any] = {}
        if self.fixed:
            heads = b"".join(bodies if not self.lists else [body[:size] for body in bodies])
            records = np.frombuffer(heads, dtype=self.record)
            values = {each.name: records[each.name] for each in self.fixed}
        if self.lists:
            words = np.frombuffer(b"".join(body[size:] for body in bodies), dtype="<i4")
            values |= _split_lists(words, tails // 4, [each.name for each in self.lists])
        return values

    def to_json(self, body: bytes) -> dict[str, Any]:
        """Show a body as plain values: what a person can read, and the JSON form of a submission.

        A report of one number is that number, a list is a list, and a report of several columns is an object.
        """
        values = self._read([body])
        document: dict[str, Any] = {}
        for each in self.columns:
            found = values[each.name]
            if each.column.count is None:
                document[each.question] = found[1].tolist()
            elif each.column.name:
                document.setdefault(each.question, {})[each.column.name] = found[0].tolist()
            else:
                document[each.question] = int(found[0, 0])
        return document

    def from_json(self, document: Any) -> bytes:
        """Return the body that a JSON form stands for; symbols are checked by :meth:`unpack`, their size here."""
        names = {each.question for each in self.columns}
        if not isinstance(document, dict) or set(document) != names:
            found = sorted(map(str, document)) if isinstance(document, dict) else type(document).__name__
            raise InvalidReports("report", f"an object with the keys {', '.join(sorted(names))}", found)
        parts = []
        for each in (*self.fixed, *self.lists):
            given = document[each.question]
            if each.column.name:
                wanted = {other.column.name for other in self.columns if other.question == each.question}
                if not isinstance(given, dict) or set(given) != wanted:
                    expected = f"an object with the keys {', '.join(sorted(wanted))}"
                    raise InvalidReports(f"report's {each.question}", expected, given)
                given = given[each.column.name]
            elif each.column.count is not None:
                given = [given]
            packed = _integers(given, each.name, each.dtype, each.column.count)
            if each.column.count is None and each is not self.lists[-1]:
                parts.append(np.array(len(given), dtype="<i4").tobytes())
            parts.append(packed)
        return b"".join(parts)


def _split_lists(words: NDArray[np.int32], lengths: NDArray[np.int64], names: list[str]) -> dict[str, Any]:
    """Split each row's words into its lists, all but the last of which begin with their count."""
    values: dict[str, Any] = {}
    for name in names[:-1]:
        starts = np.concatenate([[0], np.cumsum(lengths)])[:-1]
        if (lengths < 1).any():
            raise InvalidReports(f"The report in row {int(np.argmin(lengths))} lacks the count of its {name}.")
        counts = words[starts].astype(np.int64)
        wrong = (counts < 0) | (counts >= lengths)
        if wrong.any():
            found = f"{counts[np.argmax(wrong)]} in row {int(np.argmax(wrong))}"
            raise InvalidReports(f"report's {name}", "as many entries as it says", found)
        row = np.repeat(np.arange(len(lengths)), lengths)
        place = np.arange(len(words)) - starts[row]
        values[name] = (np.concatenate([[0], np.cumsum(counts)]), words[(place > 0) & (place <= counts[row])])
        words, lengths = words[place > counts[row]], lengths - counts - 1
    values[names[-1]] = (np.concatenate([[0], np.cumsum(lengths)]), words)
    return values


def _integers(values: Any, name: str, kind: np.dtype[Any], count: int | None) -> bytes:
    if not isinstance(values, list) or not all(type(value) is int for value in values):
        raise InvalidReports(f"report's {name}", "integers", values)
    if count is not None and len(values) != count:
        raise InvalidReports(f"report's {name}", f"{count} integers", len(values))
    limits = np.iinfo(kind)
    if values and not limits.min <= min(values) <= max(values) <= limits.max:
        raise InvalidReports(f"The report's {name} must be integers of {8 * kind.itemsize} bits.")
    return np.array(values, dtype=kind).tobytes()
