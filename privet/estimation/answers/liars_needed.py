"""Certificates: the number of liars whom a prediction withstands, where logits are sums of bounded parts.

The logit of class c for person i is a part that is i's own, plus a sum over friends j of a part that only j's answer
decides. Each part has one of a few values, one for each answer that j can give. So the margin between the predicted
class and another one falls most if the friends with the largest possible drops lie, each as badly as possible: the
smallest number of liars who turn the prediction is found by sorting, exactly, and without trying any set of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.estimation.answers.neighbour_evidence import answer_factors, told_of_neighbours

__all__ = [
    "MARGIN",
    "Links",
    "Possible",
    "fewest_liars",
    "liars_needed",
    "lost",
    "margins_of",
    "neighbour_links",
    "own_links",
]

Array = NDArray[np.float64]
Ids = NDArray[np.integer[Any]]

MARGIN = 1e-4
"""A margin that falls to this is counted as lost: predictions are computed with single precision."""


def margins_of(logits: Array, predicted: Ids) -> Array:
    """Return how far the predicted class is ahead of each other one; inf of itself.

    Args:
        logits: Everybody's logits, people x classes.
        predicted: The predicted class of each of them.
    """
    everybody = np.arange(len(logits))
    margins = logits[everybody, predicted][:, None] - logits
    margins[everybody, predicted] = np.inf
    return np.asarray(margins)


def lost(margins: Array, slack: float = MARGIN) -> NDArray[np.bool_]:
    """Tell which margins a certificate must not count on: too small ones, and those that are not numbers.

    Args:
        margins: Margins after the worst lies.
        slack: The largest margin that is counted as lost.
    """
    return ~(margins > slack)


@dataclass(frozen=True, eq=False)
class Possible:
    """Everything that people could have answered.

    Attributes:
        kinds: Which answers each person has, -1 for people who cannot lie since nobody asks them.
        own: What each answer of each kind tells of the person's own class, kinds x answers x classes, centred.
        told: What it tells of a neighbour's class, of the same shape.
    """

    kinds: NDArray[np.int64]
    own: Array
    told: Array

    @classmethod
    def of(
        cls, kinds: NDArray[np.int64], own: NDArray[np.floating[Any]], mixing: NDArray[np.floating[Any]]
    ) -> Possible:
        """Derive what answers tell of neighbours.

        Args:
            kinds: As the attribute.
            own: The evidence of each answer of each kind, not yet centred.
            mixing: The mixing of classes along edges (:func:`class_mixing`).
        """
        centred = (own - own.mean(axis=-1, keepdims=True)).astype(np.float32)
        told = told_of_neighbours(centred, mixing.astype(np.float32))
        return cls(kinds, centred.astype(np.float64), told.astype(np.float64))


@dataclass(frozen=True, eq=False)
class Links:
    """The weights with which answers enter logits: of ``listeners``, what ``speakers`` say.

    Attributes:
        listeners: Whose logit it is.
        speakers: Whose answer it is.
        told: The weight of what the answer tells of a neighbour's class.
        own: The weight of what it tells of its owner's class.
    """

    listeners: Ids
    speakers: Ids
    told: Array
    own: Array

    def of_others(self) -> Links:
        """Return the links without those of people to themselves, which loops of the graph make."""
        return self._where(self.listeners != self.speakers)

    def to_themselves(self, people: int) -> Links:
        """Return one link of each person to themselves: the sum of theirs."""
        own = self._where(self.listeners == self.speakers)
        ids, told, said = np.arange(people), *(np.bincount(own.listeners, part, people) for part in (own.told, own.own))
        return Links(ids, ids, np.asarray(told, dtype=np.float64), np.asarray(said, dtype=np.float64))

    def _where(self, chosen: NDArray[np.bool_]) -> Links:
        return Links(self.listeners[chosen], self.speakers[chosen], self.told[chosen], self.own[chosen])

    def joined(self, other: Links) -> Links:
        """Return the links of both."""
        names = ("listeners", "speakers", "told", "own")
        return Links(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))


def neighbour_links(
    adjacency: sp.csr_array, labels: Ids, weights: NDArray[np.floating[Any]], *, bounded: bool = False
) -> Links:
    """Return the links of :func:`privet.estimation.answers.neighbour_evidence.neighbour_evidence`, weighed.

    Args:
        adjacency: The public adjacency matrix.
        labels: The visible label of each person, -1 where there is none.
        weights: The weights of the four sources.
        bounded: As there.
    """
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64)
    unlabelled = (labels < 0).astype(np.float64)
    among = np.maximum(adjacency @ unlabelled, 1)
    listeners = np.repeat(np.arange(len(labels)), np.diff(adjacency.indptr))
    speakers = adjacency.indices
    size = np.asarray(adjacency.data, dtype=np.float64)
    if bounded:
        size = size * answer_factors(adjacency)[speakers]
    everybody, unknown, many, similar = (float(weight) for weight in weights)
    of_unknown = (unknown / among + many / np.sqrt(degrees + 1))[listeners] * unlabelled[speakers]
    told = size * (everybody / np.maximum(degrees, 1)[listeners] + of_unknown)
    return Links(listeners, speakers, told, size * (similar / among)[listeners] * unlabelled[speakers])


def own_links(people: int, weight: float) -> Links:
    """Return the links of everybody's own answer with their own logit."""
    ids = np.arange(people)
    return Links(ids, ids, np.zeros(people), np.full(people, weight))


def liars_needed(
    logits: Array, links: Links, own: Array, told: Array, possible: Possible, *, slack: float = MARGIN
) -> Array:
    """Return the smallest number of liars who turn each person's prediction; inf if all of them together cannot.

    Args:
        logits: Everybody's logits, people x classes.
        links: The answers that enter them.
        own: What each person's answer tells of the own class, people x classes, centred.
        told: What it tells of a neighbour's class, of the same shape.
        possible: What each person could have answered instead.
        slack: A margin that falls to this is counted as lost.
    """
    can_lie = possible.kinds[links.speakers] >= 0
    listeners, speakers = links.listeners[can_lie], links.speakers[can_lie]
    by_told, by_own, kinds = links.told[can_lie], links.own[can_lie], possible.kinds[speakers]
    predicted = logits.argmax(axis=1)
    chosen = predicted[listeners]
    margins = margins_of(logits, predicted)
    needed = np.full(len(logits), np.inf)
    for other in range(logits.shape[1]):

        def gap(rows: Array, entries: Ids) -> Array:
            return np.asarray(rows[entries, chosen] - rows[entries, other])  # noqa: B023

        said = by_told * gap(told, speakers) + by_own * gap(own, speakers)
        least = said.copy()
        for answer in range(possible.own.shape[1]):
            lie = by_told * gap(possible.told[:, answer], kinds) + by_own * gap(possible.own[:, answer], kinds)
            np.minimum(least, lie, out=least)
        needed = np.minimum(needed, fewest_liars(margins[:, other], listeners, said - least, slack))
    return needed


def fewest_liars(margins: Array, listeners: Ids, drops: Array, slack: float = MARGIN) -> Array:
    """Return the smallest number of drops of each listener that together lose the margin; inf if all do not.

    Args:
        margins: The margin of each person.
        listeners: Whose margin each drop lowers.
        drops: The largest drop that each speaker can cause, at least 0.
        slack: A margin that falls to this is counted as lost.
    """
    drops = np.where(np.isnan(drops), np.inf, drops)
    order = np.lexsort((-drops, listeners))
    rows = listeners[order]
    sums = np.concatenate([[0.0], np.cumsum(drops[order])])
    first = np.searchsorted(rows, np.arange(len(margins)))
    with np.errstate(invalid="ignore"):  # what comes after an unbounded drop is not a number, and so lost
        gone = lost(margins[rows] - (sums[1:] - sums[first[rows]]), slack)
    needed = np.full(len(margins), np.inf)
    np.minimum.at(needed, rows[gone], (np.arange(len(rows)) - first[rows] + 1.0)[gone])
    return np.where(lost(margins, slack), 1.0, needed)
