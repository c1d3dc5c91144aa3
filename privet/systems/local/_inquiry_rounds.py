"""The state of Inquiry's server between rounds: answers so far, what some people show, sums of an aggregator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data import Graph
from privet.mechanisms import Bits, GridSum
from privet.mechanisms.primitives.grid import unit_rows_on_grid
from privet.privacy import Guarantee, Unit
from privet.privacy.accounting.processes.poisson_sampling import PoissonSampling
from privet.privacy.guarantee import ADJACENCY
from privet.release import Answers
from privet.release.asks.features import Features
from privet.release.asks.friends import Friends
from privet.release.asks.friends_again import FriendsAgain
from privet.release.asks.label import Label
from privet.release.asks.resemblance import Resemblance
from privet.release.central import CentralRelease
from privet.release.price import Aggregate
from privet.systems.collected import Collected, labelled

__all__ = ["ClassSums", "Inquired", "Shown", "class_sums_aggregate", "class_sums_release", "who_was_asked"]


_CHANGE = 2.0  # the largest distance between two vectors of length 1


@dataclass(frozen=True, eq=False)
class Shown:
    """The features of people who show them, and their classes.

    Attributes:
        users: Their ids.
        features: Their features, one CSR row each.
        labels: Their classes, -1 for people who do not show it.
    """

    users: NDArray[np.int64]
    features: sp.csr_array
    labels: NDArray[np.int64]

    @classmethod
    def of(cls, graph: Graph, users: NDArray[np.int64], *, classes: bool) -> Shown:
        """Copy the features of some people, so that nothing is shared with what stays private."""
        labels = np.full(len(users), -1, dtype=np.int64) if graph.labels is None or not classes else graph.labels[users]
        return cls(users, sp.csr_array(sp.csr_array(graph.features)[users]).copy(), labels)


@dataclass(frozen=True, eq=False)
class ClassSums:
    """Sums of the unit-length features of labelled people of each class, with noise.

    Attributes:
        sums: The noisy sums, classes x features.
        counts: The number of people behind each sum, which is public because the labels are.
        release: The noise and its promise.
    """

    sums: NDArray[np.float64]
    counts: NDArray[np.int64]
    release: CentralRelease

    @property
    def noise(self) -> float:
        """The standard deviation of the noise of each entry."""
        return _CHANGE * self.release.noise_multiplier

    @classmethod
    def of(cls, graph: Graph, classes: int, release: CentralRelease, bits: Bits) -> ClassSums:
        """Play the trusted aggregator: add up, add noise, and forget what was added up.

        Exchanging one person's features for others moves one sum by a vector of length at most 2.
        """
        people = np.flatnonzero(labelled(graph))
        labels = graph.labels[people] if graph.labels is not None else people
        rows, unit = unit_rows_on_grid(sp.csr_array(graph.features)[people])
        ones = np.ones(len(people), dtype=np.int64)
        hot = sp.csr_array((ones, (labels, np.arange(len(people)))), shape=(classes, len(people)))
        total = GridSum(np.asarray((hot @ rows).toarray()), unit)
        sums = total.with_noise(_CHANGE * release.noise_multiplier, bits)
        return cls(sums, np.bincount(labels, minlength=classes), release)


def class_sums_release(epsilon: float, num_nodes: int) -> CentralRelease:
    """Return the calibrated noise of class sums for a central epsilon, in multiples of the largest change of a sum."""
    return CentralRelease.calibrated(PoissonSampling(rate=1.0, steps=1, num_nodes=num_nodes), epsilon)


def class_sums_aggregate(release: CentralRelease) -> Aggregate:
    """Return the line and the promise of class sums: the features of labelled people, exchanged for any others."""
    found = release.guarantee()
    if found is None:  # calibrated noise is never 0
        raise AssertionError("class sums without noise")
    left = (
        "labelled people's features from the trusted aggregator who adds them up",
        "the number of labelled people of each class",
    )
    return Aggregate(
        "class sums (central)",
        "gaussian noise on sums of unit-length features",
        "a trusted aggregator adds up the features of labelled people of each class, and random noise to the sums",
        Guarantee("hybrid", Unit.FEATURES, ADJACENCY[Unit.FEATURES], found.epsilon, found.delta, unprotected=left),
    )


def who_was_asked(collected: Inquired) -> dict[str, float]:
    """Return shares of all people, by what they were asked.

    Returns:
        ``asked``: who answered anything at all; ``panel`` and ``pilot``: who showed features or reported a noisy
        vector; ``asked_2``, ``asked_3``, ...: who was offered so many classes; ``counted_once`` and
        ``counted_twice``: who counted friends in one round or in two; ``labels``: who reported a class;
        ``calibrators``: people of known class who answered a question about features or friends. Groups without
        anybody are left out, but for ``asked``.
    """
    answers, known = collected.answers, collected.seen_labels() >= 0
    people: dict[str, int] = {"panel": 0 if collected.shown is None else int((collected.shown.labels >= 0).sum())}
    counted = np.zeros(collected.num_nodes, dtype=np.int64)
    for name in (Friends.name, FriendsAgain.name):
        counted[_users(collected, name)] += 1
    offered = _users(collected, Resemblance.name)
    if len(offered):
        ask = cast(Resemblance, collected.release.question(Resemblance.name).ask)
        sizes = np.bincount(ask.options()[offered])
        people |= {f"asked_{options}": int(size) for options, size in enumerate(sizes)}
    people |= {"counted_once": int((counted == 1).sum()), "counted_twice": int((counted == 2).sum())}
    people |= {"pilot": len(_users(collected, Features.name)), "labels": len(_users(collected, Label.name))}
    calibrating = counted > 0
    calibrating[offered] = True
    people["calibrators"] = int((calibrating & known).sum())
    shares = {name: size / collected.num_nodes for name, size in people.items() if size}
    return {"asked": len(answers.users) / collected.num_nodes} | shares


def _users(collected: Inquired, question: str) -> NDArray[np.int64]:
    answer = collected.answer(question)
    return np.zeros(0, dtype=np.int64) if answer is None else answer.users


@dataclass(frozen=True, eq=False)
class Inquired(Collected):
    """Answers of the rounds so far, and everything public that later rounds depend on.

    Attributes:
        shown: The features of people who show them: a panel, or everybody where features are public.
        sums: The class sums of a trusted aggregator, or None.
        learned: What was computed from the above, by name: computed once, and no later answer changes it.
    """

    shown: Shown | None = None
    sums: ClassSums | None = None
    learned: dict[str, Any] = field(default_factory=dict)

    @property
    def showing(self) -> NDArray[np.int64]:
        """The ids of people who show their features."""
        return super().showing if self.shown is None else self.shown.users

    def joined(self, answers: Answers) -> Inquired:
        """Add the answers of a round."""
        return replace(self, answers=self.answers.joined(answers), learned=dict(self.learned))

    def once(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return what was learned under a name, computed when it is first needed."""
        if name not in self.learned:
            self.learned[name] = compute()
        return self.learned[name]

    def answered(self) -> NDArray[np.bool_]:
        """Tell which nodes answered a question, or showed their features."""
        mask = super().answered()
        if self.shown is not None:
            mask[self.shown.users] = True
        return mask

    def could_answer(self) -> NDArray[np.bool_]:
        """Tell which nodes were asked anything, or to show their features: who kept silent could have answered."""
        mask = self.answered()
        for question in self.release.questions:
            people = question.ask.people()
            mask[slice(None) if people is None else people] = True
        return mask

    def seen_labels(self) -> NDArray[np.int64]:
        """Return the class that the server sees of each node: public, reported or shown; -1 where it sees none."""
        seen = super().seen_labels().copy()
        if self.shown is not None:
            told = self.shown.labels >= 0
            seen[self.shown.users[told]] = self.shown.labels[told]
        return seen
