"""Lies: the reports that liars send instead of their own, to any question of any release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.auditing.attacks.coalition import Coalition
from privet.auditing.attacks.goals import Aim
from privet.auditing.attacks.invention import false_input
from privet.errors import InvalidParameter
from privet.mechanisms import SeededBits
from privet.privacy import Unit
from privet.release import Answer, Answers, PrivateData, Question
from privet.release.pretence import Pretence

__all__ = ["KINDS", "Kind", "Lies"]

Kind: TypeAlias = Literal["report", "sleeper", "input", "friends", "accounts", "random"]

KINDS: tuple[str, ...] = get_args(Kind)
"""report: any possible report, the one that says most; sleeper: the same, but liars of public class say what is true of
their class, so that a model learns to trust it; input: an honest device that is told false data; friends: an honest
device that is told of invented friends; accounts: accounts that belong to nobody name some people as friends; random:
reports drawn uniformly, a control."""


@dataclass(frozen=True, eq=False)
class Lies:
    """Exchange the reports of a coalition in the answers of a round; give it to ``collect`` as ``altered``.

    Attributes:
        coalition: The liars.
        aim: The class that each of them passes for, or the number that they push.
        kind: One of :data:`KINDS`.
        seed: The seed of what liars draw.
        column: With the goal "frequency", the number that is pushed up, a column of the first question's estimate.
        friends: The number of friends that the kinds "friends" and "accounts" invent for each liar.
    """

    coalition: Coalition
    aim: Aim
    kind: Kind = "report"
    seed: int = 0
    column: int = 0
    friends: int = 16

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InvalidParameter("kind", f"one of {', '.join(KINDS)}", self.kind)
        if self.friends < 1:
            raise InvalidParameter("friends", "at least 1", self.friends)

    def __call__(self, answers: Answers) -> Answers:
        """Exchange the liars' reports to every question of a round."""
        lied = {question.name: self._told(question, answers[question.name]) for question in answers.release.questions}
        return Answers(answers.release, lied)

    def _told(self, question: Question, answer: Answer) -> Answer:
        rows = np.flatnonzero(np.isin(answer.users, self.coalition.users))
        if not len(rows):
            return answer
        places = np.searchsorted(self.coalition.users, answer.users[rows])
        told = self._reports(question, answer.reports.take(rows), places)
        return Answer(answer.users, answer.reports.with_rows(rows, told))

    def _reports(self, question: Question, honest: Any, places: NDArray[np.int64]) -> Any:
        mechanism = question.mechanism
        bits = SeededBits(np.random.default_rng([self.seed, 13]))
        if self.kind == "random":
            return mechanism.uniform(honest, bits)
        if self.kind in ("input", "friends"):
            if self.kind == "friends" and not question.ask.unit.covers(Unit.NEIGHBOUR_BIT):
                return honest
            return question.perturb(self._false_input(places), bits)
        return mechanism.strongest(self._directions(question, honest, places), honest)

    def _false_input(self, places: NDArray[np.int64]) -> PrivateData:
        invented = self.friends if self.kind == "friends" else None
        return false_input(
            self.coalition, self._wanted(places), places, np.random.default_rng([self.seed, 14]), invented
        )

    def _wanted(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        wanted, own = self.aim.wanted[places], self.coalition.own[places]
        if self.kind != "sleeper":
            return wanted
        public = self.coalition.labels[self.coalition.users[places]] >= 0
        return np.where(public & (own >= 0), own, wanted)

    def _directions(self, question: Question, honest: Any, places: NDArray[np.int64]) -> Any:
        columns = question.mechanism.estimate(honest.take(np.zeros(1, dtype=np.int64))).shape[1]
        if self.aim.goal == "frequency":
            ones, zeros = np.ones(len(places)), np.full(len(places), self.column % columns)
            return sp.csr_array((ones, zeros, np.arange(len(places) + 1)), shape=(len(places), columns))
        coalition = self.coalition
        schema = coalition.public.schema
        classes = int(max(self.aim.wanted.max(initial=0) + 1, 1 if schema is None else schema.classes))
        own = coalition.own[places]
        pretence = Pretence(coalition.users[places], self._wanted(places), own, coalition.labels, classes)
        spoken = question.ask.speaks_for(pretence, question.mechanism)
        if spoken is None:
            return self._code(pretence, columns, getattr(question.mechanism.shape, "width", 1))
        listed = question.ask.unit is Unit.NEIGHBOUR_BIT and spoken.shape[1] == len(coalition.labels)
        if not listed:
            return spoken
        if self.aim.goal == "person" and self.aim.target is not None:
            spoken = sp.csr_array(spoken + _marked(len(places), columns, self.aim.target))
        return self._few(spoken) if self.kind == "accounts" else spoken

    def _code(self, pretence: Pretence, columns: int, width: int) -> sp.csr_array:
        """Give each class columns of its own, the same for all liars: a code that a model can be taught."""
        order = np.random.default_rng([self.seed, 15]).permutation(columns)
        each = max(1, min(width, columns // pretence.classes))
        places = (pretence.wanted[:, None] * each + np.arange(each)) % columns
        starts = np.arange(len(pretence.users) + 1) * each
        ones = np.ones(places.size)
        return sp.csr_array((ones, order[places].ravel(), starts), shape=(len(pretence.users), columns))

    def _few(self, directions: sp.csr_array) -> sp.csr_array:
        """Keep a few of the people whom each account could name, and always the victim."""
        weights = np.random.default_rng([self.seed, 16]).random(directions.nnz) + (directions.data > 1)
        rows = np.repeat(np.arange(directions.shape[0]), np.diff(directions.indptr))
        order = np.lexsort((-weights, rows))
        rank = np.empty(directions.nnz, dtype=np.int64)
        rank[order] = np.arange(directions.nnz) - directions.indptr[rows[order]]
        kept = rank < self.friends
        picked = (directions.data[kept], (rows[kept], directions.indices[kept]))
        return sp.csr_array(picked, shape=directions.shape)


def _marked(rows: int, columns: int, column: int) -> sp.csr_array:
    """Return a matrix of ones in one column."""
    return sp.csr_array((np.ones(rows), np.full(rows, column), np.arange(rows + 1)), shape=(rows, columns))
