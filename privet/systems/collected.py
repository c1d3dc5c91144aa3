"""Collected data: all that the server holds before it learns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data import Graph, Schema, Split
from privet.errors import InvalidData
from privet.estimation.missing import Completed, complete_from_neighbours, report_distances
from privet.graph.operators import GraphLike
from privet.mechanisms import AffineFeatures, Mechanism, RandomizedResponse
from privet.privacy import Guarantee, Unit
from privet.privacy.ledger import LedgerLine
from privet.release import Answer, Answers, LocalRelease

__all__ = ["Collected", "Showing", "Shown", "labelled", "public_view"]


@dataclass(frozen=True, eq=False)
class Showing:
    """The people who show the server their features as they are.

    Attributes:
        users: Their ids, ascending.
        classes: True if they show their class as well.
        lists: True if they show their friend lists as well.
    """

    users: NDArray[np.int64]
    classes: bool = True
    lists: bool = False


@dataclass(frozen=True, eq=False)
class Shown:
    """The features of people who show them, and their classes and friend lists.

    Attributes:
        users: Their ids.
        features: Their features, one CSR row each.
        labels: Their classes, -1 for people who do not show it.
        lists: One row of the adjacency matrix for each of them; None if they do not show their friends.
    """

    users: NDArray[np.int64]
    features: sp.csr_array
    labels: NDArray[np.int64]
    lists: sp.csr_array | None = None

    @classmethod
    def of(cls, graph: Graph, showing: Showing) -> Shown:
        """Copy what some people of a graph show, so that nothing is shared with what stays private."""
        users = showing.users
        labels = np.full(len(users), -1, dtype=np.int64)
        if showing.classes and graph.labels is not None:
            labels = graph.labels[users]
        lists = sp.csr_array(graph.adjacency[users]).copy() if showing.lists else None
        return cls(users, sp.csr_array(sp.csr_array(graph.features)[users]).copy(), labels, lists)


@dataclass(frozen=True, eq=False)
class Collected:
    """Everything that the server holds after the rounds so far. Nothing here knows a test node's label.

    Attributes:
        public: Schema, split, the topology unless it was asked for, and the labels of training and validation nodes
            unless they were asked for (-1 elsewhere). It has no features.
        answers: The answers to each question of the rounds so far, in the order of the people's ids.
        shown: The features (and classes) of people who show them, as the release discloses; None if nobody does.
        sums: Noisy sums of a trusted aggregator, as the release states them; None if there are none.
        learned: Results computed from all this, by name. Each is computed once, and no later answer changes it.
    """

    public: Graph
    answers: Answers
    shown: Shown | None = None
    sums: Any = None
    learned: dict[str, Any] = field(default_factory=dict)

    def joined(self, answers: Answers) -> Self:
        """Add the answers of a round; nobody may have been asked anything twice."""
        return replace(self, answers=self.answers.joined(answers), learned=dict(self.learned))

    def once(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return the result of this name, and compute it if it is asked for the first time."""
        if name not in self.learned:
            self.learned[name] = compute()
        return self.learned[name]

    @property
    def release(self) -> LocalRelease:
        """The questions that were answered."""
        return self.answers.release

    @property
    def showing(self) -> NDArray[np.int64]:
        """The ids of people who show the server their raw data, as the release discloses."""
        return np.zeros(0, dtype=np.int64) if self.shown is None else self.shown.users

    @property
    def schema(self) -> Schema:
        """The declared domain of the features and the number of classes."""
        return self.release.population.schema

    @property
    def num_nodes(self) -> int:
        """The number of people, whether they answered or not."""
        return self.public.num_nodes

    @property
    def split(self) -> Split:
        """The parts of the nodes."""
        if self.public.split is None:
            raise InvalidData(
                "The collected data have no split into training, validation and test nodes. Add one with split_nodes."
            )
        return self.public.split

    @property
    def train(self) -> NDArray[np.bool_]:
        """The nodes for training."""
        return self.split.train

    @property
    def validation(self) -> NDArray[np.bool_]:
        """The nodes for choosing among models."""
        return self.split.validation

    @property
    def topology(self) -> Graph:
        """The public topology; an error where edges are private, since they are then known from answers only."""
        if self.release.asks_about(Unit.NEIGHBOUR_BIT):
            raise InvalidData(
                "The topology is not public: the study asks about private neighbour lists. Learn it from their answers."
            )
        return self.public

    def answer(self, name: str) -> Answer | None:
        """Return the answer to a question, or None if it was not asked."""
        return self.answers.get(name)

    def mechanism(self, name: str) -> Any:
        """Return the mechanism of a question, or None if it was not asked."""
        return self.release.question(name).mechanism if self.release.asks(name) else None

    @property
    def label_response(self) -> RandomizedResponse | None:
        """The randomiser of private labels; None where labels are public."""
        found: Mechanism | None = self.mechanism("label")
        if found is not None and not isinstance(found, RandomizedResponse):
            raise InvalidData(f"Private labels are read from randomised response only, and {found.name} was used.")
        return found

    def seen_labels(self) -> NDArray[np.int64]:
        """Return the class that the server sees of each node: public, reported or shown; -1 where it sees none."""
        seen = np.full(self.num_nodes, -1, dtype=np.int64)
        reported = self.answer("label")
        if reported is not None:
            seen[reported.users] = reported.reports.symbols[:, 0]
        elif self.public.labels is not None:
            seen = self.public.labels
        if self.shown is not None:
            told, seen = self.shown.labels >= 0, seen.copy()
            seen[self.shown.users[told]] = self.shown.labels[told]
        return seen

    def supervised(self, owner: str) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the seen labels, the labelled training nodes and the labelled validation nodes; none may be empty."""
        seen = self.seen_labels()
        fit, held = (np.flatnonzero(part & (seen >= 0)) for part in (self.train, self.validation))
        if not len(fit) or not len(held):
            raise InvalidData(
                f"{owner} needs labelled nodes, some for training and some for validation; it has {len(fit)} and "
                f"{len(held)}."
            )
        return seen, fit, held

    def estimate(self, topology: sp.csr_array | None = None) -> AffineFeatures:
        """Estimate everybody's features without bias; those of people who did not answer are their neighbours' mean.

        Args:
            topology: The adjacency whose neighbours are meant; the public one by default.
        """
        return self.completed(topology).features

    def completed(self, topology: sp.csr_array | None = None) -> Completed:
        """Return the estimate, and how far away the reports behind each node's row of it are."""
        reported, respondents = self.reported(), self.answers["features"].users
        if len(respondents) == self.num_nodes:
            return Completed(reported, np.zeros(self.num_nodes, dtype=np.int64))
        adjacency = self.topology.adjacency if topology is None else topology
        return complete_from_neighbours(reported, respondents, adjacency)

    def distances(self, topology: GraphLike) -> NDArray[np.int64]:
        """Return how far the feature reports behind each node's row of the estimate are; -1 if there are none.

        Args:
            topology: The adjacency whose neighbours are meant.
        """
        respondents = self.answers["features"].users
        if len(respondents) == self.num_nodes:
            return np.zeros(self.num_nodes, dtype=np.int64)
        return report_distances(respondents, topology)

    def reported(self) -> AffineFeatures:
        """Estimate the features of those who answered, row by row as they were reported."""
        estimate: AffineFeatures = self.mechanism("features").estimate(self.answers["features"].reports)
        return estimate

    def answered(self) -> NDArray[np.bool_]:
        """Tell which nodes answered at least one question, or showed their features."""
        mask = np.zeros(self.num_nodes, dtype=np.bool_)
        mask[self.answers.users] = True
        mask[self.showing] = True
        return mask

    def could_answer(self) -> NDArray[np.bool_]:
        """Tell which nodes were asked anything, or to show their features: who kept silent could have answered."""
        mask = self.answered()
        for question in self.release.questions:
            people = question.ask.people()
            mask[slice(None) if people is None else people] = True
        return mask

    def lines(self) -> tuple[LedgerLine, ...]:
        """Return the parts of the budget."""
        return self.release.lines()

    def guarantee(self) -> Guarantee | None:
        """Return the promise that every device was given."""
        return self.release.guarantee()


def public_view(graph: Graph, release: LocalRelease) -> Graph:
    """Strip a graph of everything that a release asks for, of its features, and of the labels of test nodes."""
    hidden = np.full(graph.num_nodes, -1, dtype=np.int64)
    labels = (
        hidden
        if release.asks_about(Unit.LABEL) or graph.labels is None
        else np.where(labelled(graph), graph.labels, -1)
    )
    if not release.asks_about(Unit.NEIGHBOUR_BIT):
        return graph.replace(features=None, labels=labels)
    nothing = sp.csr_array((graph.num_nodes, graph.num_nodes), dtype=np.float32)
    return Graph(nothing, labels=labels, split=graph.split, schema=graph.schema)


def labelled(graph: Graph) -> NDArray[np.bool_]:
    """Tell which nodes of training and validation have a class."""
    if graph.labels is None or graph.split is None:
        return np.zeros(graph.num_nodes, dtype=np.bool_)
    return (graph.split.train | graph.split.validation) & (graph.labels >= 0)
