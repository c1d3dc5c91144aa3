"""The worth of an answer to "which of these classes do you resemble most": what to offer, and what it tells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from privet.mechanisms import OfferedResponse

__all__ = [
    "AnswerModel",
    "KnownAccuracy",
    "SeenScores",
    "best_offers",
    "evidence",
    "groups_of_offers",
    "possible_evidence",
]

Array = NDArray[np.float64]
Offers = NDArray[np.integer[Any]]

_BLOCK = 1 << 18  # people at once
_LITTLE = 1e-3  # the worth of a nat of information beside the chance of a right decision
_SMOOTHING = 2.0  # the weight of the average confusion, in people


class AnswerModel(ABC):
    """The true answers of people of each class: P(answer | class) for a set of offered classes."""

    classes: int

    @abstractmethod
    def confusion(self, offered: tuple[int, ...]) -> Array:
        """Return P(position of the answer | class), classes x offered classes, before it is randomised."""


@dataclass(frozen=True, eq=False)
class SeenScores(AnswerModel):
    """Answers that people of known class and known scores would give, such as a panel's.

    Attributes:
        scores: The scores of these people by a scorer that did not see them, people x classes.
        labels: Their classes.
        classes: The number of classes.
    """

    scores: Array
    labels: NDArray[np.int64]
    classes: int
    _found: dict[tuple[int, ...], Array] = field(default_factory=dict, repr=False)

    def confusion(self, offered: tuple[int, ...]) -> Array:
        """Count the answers of each class's people, smoothed by the average confusion."""
        if offered not in self._found:
            columns = np.array(offered)
            answers = self.scores[:, columns].argmax(axis=1)
            counts = np.zeros((self.classes, len(offered)))
            np.add.at(counts, (self.labels, answers), 1)
            inside = np.isin(self.labels, columns)
            right = (columns[answers] == self.labels)[inside].mean() if inside.any() else 1 / len(offered)
            usual = KnownAccuracy(float(right), self.classes).confusion(offered)
            smoothed = (counts + _SMOOTHING * usual) / (counts.sum(axis=1, keepdims=True) + _SMOOTHING)
            self._found[offered] = smoothed
        return self._found[offered]


@dataclass(frozen=True)
class KnownAccuracy(AnswerModel):
    """Answers that are right with one probability wherever the class is offered, and otherwise any other one.

    Attributes:
        accuracy: The probability of the right answer if the class is among the offered ones.
        classes: The number of classes.
    """

    accuracy: float
    classes: int

    def confusion(self, offered: tuple[int, ...]) -> Array:
        """Return the accuracy for the class itself, and equal shares elsewhere."""
        options = len(offered)
        right = min(max(self.accuracy, 1 / options), 1 - 1e-6)
        found = np.full((self.classes, options), 1 / options)
        found[list(offered)] = (1 - right) / (options - 1)
        found[list(offered), range(options)] = right
        return found

    @classmethod
    def estimated(
        cls,
        offers: Offers,
        positions: NDArray[np.integer[Any]],
        heard: Array,
        mechanism: OfferedResponse,
    ) -> KnownAccuracy:
        """Return the accuracy under which the randomised answers of people of known class are likeliest.

        Args:
            offers: What they were offered.
            positions: Their randomised answers.
            heard: The probability of what is known about each person given each class; one-hot for known classes.
            mechanism: The randomiser.
        """
        classes = heard.shape[1]

        def loss(accuracy: float) -> float:
            likelihood = np.exp(evidence(cls(accuracy, classes), offers, positions, mechanism))
            return -float(np.log(np.maximum((likelihood * heard).sum(axis=1), 1e-300)).sum())

        if not len(offers):
            return cls(0.6, classes)
        return cls(float(minimize_scalar(loss, bounds=(1 / classes, 1 - 1e-3), method="bounded").x), classes)


def best_offers(
    log_prior: Array,
    model: AnswerModel,
    mechanism: OfferedResponse,
    absent: Sequence[int] = (),
    *,
    decisive: bool = False,
) -> tuple[Offers, Array]:
    """Choose for each person the set of likeliest classes whose randomised answer tells most about the class.

    Args:
        log_prior: Class log-probabilities, people x classes.
        model: The true answers of people of each class.
        mechanism: The randomiser; it bounds the number of options.
        absent: Classes that are never offered, since nothing is known of how people of them answer (default: none).
        decisive: True if nothing but the prior will stand beside the answer. The chance of the right class then
            counts, and information only where no answer could change the decision.

    Returns:
        The offered classes of each person, ascending and filled up with -1, and the information of the answer about
        the class, in nats, or its worth for the decision.
    """
    people, classes = log_prior.shape
    most = min(classes, mechanism.most)
    offers = np.full((people, most), -1, dtype=np.int16)
    value = np.full(people, -1.0)
    for start in range(0, people, _BLOCK):
        block = slice(start, min(start + _BLOCK, people))
        prior = np.exp(log_prior[block])
        rank = -prior
        rank[:, list(absent)] = 1.0  # behind all others
        order = np.argsort(rank, axis=1, kind="stable")
        for options in range(2, min(most, classes - len(absent)) + 1):
            sets = np.sort(order[:, :options], axis=1)
            for offered, rows in groups_of_offers(sets):
                channel = _randomised(model.confusion(offered), mechanism)
                found = (_decision if decisive else _information)(prior[rows], channel)
                better = rows[found > value[block][rows] + 1e-12]
                value[start + better] = found[found > value[block][rows] + 1e-12]
                offers[start + better] = [*offered, *[-1] * (most - options)]
    return offers, value


def evidence(
    model: AnswerModel, offers: Offers, positions: NDArray[np.integer[Any]], mechanism: OfferedResponse
) -> NDArray[np.float32]:
    """Return log P(randomised answer | class), people x classes, exactly as the mechanism randomises.

    Args:
        model: The true answers of people of each class.
        offers: The classes that each person was offered.
        positions: The position of each person's randomised answer among them.
        mechanism: The randomiser.
    """
    found = np.zeros((len(offers), model.classes), dtype=np.float32)
    for offered, rows in groups_of_offers(offers):
        channel = np.log(_randomised(model.confusion(offered), mechanism))
        found[rows] = channel.T[positions[rows]]
    return found


def possible_evidence(
    model: AnswerModel, offers: Offers, mechanism: OfferedResponse
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return everything that people could answer, in the form of :func:`evidence`; saying nothing is 0.

    Args:
        model: As for :func:`evidence`.
        offers: As for :func:`evidence`, for everybody; rows with fewer than two classes are people who are not asked.
        mechanism: The randomiser.

    Returns:
        The kind of each person, -1 for people who are not asked, and the evidence of each answer by kind, kinds x
        answers x classes; kinds with fewer answers are filled up with 0.
    """
    kinds = np.full(len(offers), -1, dtype=np.int64)
    found: list[NDArray[np.float32]] = []
    asked = np.flatnonzero((offers >= 0).sum(axis=1) > 1)
    for offered, rows in groups_of_offers(offers[asked]):
        kinds[asked[rows]] = len(found)
        found.append(np.log(_randomised(model.confusion(offered), mechanism)).T.astype(np.float32))
    most = 1 + max((len(each) for each in found), default=0)
    padded = [np.pad(each, ((0, most - len(each)), (0, 0))) for each in found]
    return kinds, np.stack(padded) if found else np.zeros((0, 1, model.classes), dtype=np.float32)


def groups_of_offers(offers: Offers) -> Iterator[tuple[tuple[int, ...], NDArray[np.int64]]]:
    """Yield each set of offered classes with the people who are offered it."""
    if not len(offers):
        return
    base = np.int64(offers.max()) + 2
    if float(base) ** offers.shape[1] < 2**62:  # one number a set sorts much faster than rows
        keys = (offers.astype(np.int64) + 1) @ base ** np.arange(offers.shape[1])
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    else:
        _, first, inverse = np.unique(offers, axis=0, return_index=True, return_inverse=True)
    by_set = np.argsort(inverse.ravel(), kind="stable")
    bounds = np.searchsorted(inverse.ravel()[by_set], np.arange(len(first) + 1))
    for number, row in enumerate(first):
        yield tuple(int(c) for c in offers[row] if c >= 0), by_set[bounds[number] : bounds[number + 1]]


def _randomised(confusion: Array, mechanism: OfferedResponse) -> Array:
    """Return P(randomised answer | class)."""
    return np.asarray(confusion @ mechanism.channel(confusion.shape[1]))


def _decision(prior: Array, channel: Array) -> Array:
    """Return the chance that the likeliest class after the answer is right, and a little for information."""
    joint = prior[:, :, None] * channel
    return np.asarray(joint.max(axis=1).sum(axis=1) + _LITTLE * _information(prior, channel))


def _information(prior: Array, channel: Array) -> Array:
    """Return the mutual information of class and answer for each row of priors."""
    answers = prior @ channel
    given = prior @ (channel * np.log(channel)).sum(axis=1)
    return np.asarray(given - (answers * np.log(answers)).sum(axis=1))
