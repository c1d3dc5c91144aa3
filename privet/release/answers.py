"""Answers: the reports of some people to the questions of a release, and nothing else about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidReports

if TYPE_CHECKING:
    from privet.release.local import LocalRelease

__all__ = ["Answer", "Answers"]


@dataclass(frozen=True, eq=False)
class Answer:
    """The reports to one question.

    Attributes:
        users: The ids of those who answered, ascending, each once.
        reports: Their reports; row i is from ``users[i]``.
    """

    users: NDArray[np.int64]
    reports: Any

    def __len__(self) -> int:
        return len(self.users)

    def take(self, rows: NDArray[np.integer[Any]]) -> Answer:
        """Keep some rows, in the order given."""
        return Answer(self.users[rows], self.reports.take(rows))

    def dealt(self, order: NDArray[np.integer[Any]]) -> Answer:
        """Give person i the report of row ``order[i]``: the same reports, about other people."""
        return Answer(self.users, self.reports.take(order))


@dataclass(frozen=True, eq=False)
class Answers(Mapping[str, Answer]):
    """Answers by the name of their question. A question that nobody was asked has an answer without rows.

    Attributes:
        release: The questions that were asked.
        parts: The answer to each of them.
    """

    release: LocalRelease
    parts: Mapping[str, Answer]

    def __getitem__(self, name: str) -> Answer:
        return self.parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def users(self) -> NDArray[np.int64]:
        """The ids of those who answered at least one question, ascending."""
        nobody = np.zeros(0, dtype=np.int64)
        return np.unique(np.concatenate([nobody, *(part.users for part in self.parts.values())]))

    def check_next(self, later: LocalRelease, asked: Mapping[str, NDArray[np.int64]]) -> LocalRelease:
        """Return the release of all rounds; a later round that would ask anybody anything twice is refused.

        Args:
            later: The questions of the later round.
            asked: The ids of the people who are asked each of them.
        """
        repeated = self.parts.keys() & {question.name for question in later.questions}
        if repeated:
            raise InvalidReports("questions of a round", "ones that were not asked before", min(repeated))
        release = replace(later, questions=(*self.release.questions, *later.questions))
        release.check_once({name: part.users for name, part in self.parts.items()} | dict(asked))
        return release

    def joined(self, later: Answers) -> Answers:
        """Add the answers of a later round; nobody may have been asked anything twice."""
        release = self.check_next(later.release, {name: part.users for name, part in later.parts.items()})
        return Answers(release, {**self.parts, **later.parts})

    def with_part(self, name: str, answer: Answer) -> Answers:
        """Replace the answer to one question."""
        return Answers(self.release, {**self.parts, name: answer})

    def checked(self) -> Answers:
        """Return the answers in the order of the people's ids, if devices could have sent every one of them."""
        if set(self.parts) != {question.name for question in self.release.questions}:
            asked = ", ".join(question.name for question in self.release.questions)
            raise InvalidReports(
                f"The reports must answer {asked}; they answer {', '.join(self.parts) or 'no question'}."
            )
        return Answers(self.release, {q.name: self._checked(q.name) for q in self.release.questions})

    def _checked(self, name: str) -> Answer:
        part, nodes = self.parts[name], self.release.population.num_nodes
        mechanism = self.release.question(name).mechanism
        mechanism.validate(part.reports)
        ids = np.sort(part.users)
        integers = np.issubdtype(ids.dtype, np.integer) and ids.ndim == 1
        if not integers or (len(ids) and (ids[0] < 0 or ids[-1] >= nodes or (ids[1:] == ids[:-1]).any())):
            raise InvalidReports(f"The reporting nodes must be different ids below {nodes}.")
        if len(ids) != len(part.reports):
            raise InvalidReports(f"reports to '{name}'", f"one for each of {len(ids)} nodes", len(part.reports))
        named = getattr(part.reports, "users", None)
        if mechanism.personal and not np.array_equal(np.arange(len(ids)) if named is None else named, part.users):
            raise InvalidReports(f"The reports to '{name}' name other nodes than those that sent them.")
        return part.take(np.argsort(part.users, kind="stable"))
