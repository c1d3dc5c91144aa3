"""Friend majority, a system of two rounds: people report their class, then count friends in the reported classes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from privet.data import Graph, Population
from privet.mechanisms import Counts, RandomizedResponse
from privet.release import Friends, Label, LocalRelease, Question, ranks_of
from privet.systems import MAJORITY, Collected, Control, Fitted, LocalSystem, shuffled_reports

__all__ = ["FriendMajority"]


@dataclass(frozen=True, kw_only=True)
class FriendMajority(LocalSystem):
    """Predict the class that most of a person's friends reported.

    Attributes:
        epsilon_labels: The budget of the class, which the first round asks for.
        epsilon_edges: The budget of a list bit in the second round, which asks for counts of friends.
        cap: The largest number of friends in a class that a device reports.
    """

    name = "friend-majority"
    needs = ("schema", "labels", "split")
    epsilon_features: None = None  # type: ignore[assignment]
    epsilon_labels: float = 2.0  # type: ignore[assignment]
    epsilon_edges: float = 1.0
    cap: int = 8

    def questions(self, population: Population) -> tuple[Question, ...]:
        """Ask for the class, then for the number of friends in each class."""
        label = RandomizedResponse.declare(population, epsilon=self.epsilon_labels)
        counts = Counts.declare(population, epsilon=self.epsilon_edges, cap=self.cap)
        return Question(Label(), label), Question(Friends(), counts)

    def next_round(self, collected: Collected) -> LocalRelease | None:
        """Ask one question a round; the second one is about a table of the classes that the first one found."""
        waiting = self.waiting(collected)
        if not waiting:
            return None
        question = waiting[0]
        if question.name == Friends.name:
            seen = collected.seen_labels()
            counting = np.arange(len(seen)) % 2 == 1  # half of those who reported count the other half, to measure by
            tables = {"table": seen.astype(np.int32), "ranks": ranks_of(seen >= 0, counting & (seen >= 0))}
            question = replace(question, ask=question.ask.attach(**tables))
        return replace(collected.release, questions=(question,))

    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        """Add the estimated counts to the classes' shares; who counted nobody is given the shares."""
        seen, _, held = collected.supervised("Friend majority")
        classes, answer = collected.schema.classes, collected.answers[Friends.name]
        shares = np.bincount(seen[seen >= 0], minlength=classes) / max((seen >= 0).sum(), 1)
        chances = np.tile(shares, (collected.num_nodes, 1))
        counts = collected.mechanism(Friends.name).estimate(answer.reports).dense()
        chances[answer.users] += np.maximum(counts, 0.0)
        chances = (chances / chances.sum(axis=1, keepdims=True)).astype(np.float32)
        score = float((chances[held].argmax(axis=1) == seen[held]).mean())
        return self.fitted(collected, chances, validation_score=score)

    def topology(self, collected: Collected) -> Graph:
        """Return a graph without edges: lists are private, and only counts of them are known."""
        return collected.public

    def dealt(self, collected: Collected) -> Collected:
        """Deal the counts of friends to other people at random."""
        return shuffled_reports(collected, self.seed, Friends.name)

    def controls(self) -> tuple[Control, ...]:
        """Compare with the most frequent class, which needs no counts."""
        return (MAJORITY,)
