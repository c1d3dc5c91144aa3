"""The number of friends' published classes that must be false to change what a device answers.

Only whoever has the list can count this: the device itself, or a simulation. A server sees one randomised answer and
must assume that one false class changed it (:func:`privet.systems.local.inquiry.certificate.certify_person`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.estimation.friends.count_trials import moves
from privet.release.asks.person import Person
from privet.release.log_shares import WHOLE, mixed

__all__ = ["false_classes_to_turn"]

_BLOCK = 1 << 10  # people at once


def false_classes_to_turn(
    ask: Person, features: Any, weights: NDArray[np.int64], users: NDArray[np.integer[Any]], most: int = 3
) -> NDArray[np.int64]:
    """Return the least number of friends with a false published class that change each person's true answer.

    All ways are tried: a friend may be published in a wrong class, or be left out, or be published without cause.

    Args:
        ask: The person question with its public arrays.
        features: The features of the people, one row each; None where the question does not read them.
        weights: Their friends' published weights, as :func:`~privet.release.log_shares.published_weights` adds them.
        users: Their ids.
        most: The largest number that is tried (default 3); ``most`` + 1 stands for more.
    """
    needed = np.full(len(users), most + 1, dtype=np.int64)
    for begin in range(0, len(users), _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        offers = ask.attachment("offers")[users[rows]]
        part = None if features is None else features[rows]
        needed[rows] = _needed(ask, part, weights[rows], offers, most)
    return needed


def _needed(
    ask: Person, features: Any, weights: NDArray[np.int64], offers: NDArray[np.int16], most: int
) -> NDArray[np.int64]:
    fixed, mixing, shares = ask.scores(features, None), ask.attachment("mixing"), ask.attachment("shares")
    fixed = np.broadcast_to(fixed, (len(weights), len(shares)))

    def answers(counted: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
        scores = fixed[rows] + mixed(counted, mixing, shares)
        offered = np.take_along_axis(scores, np.maximum(offers[rows], 0).astype(np.int64), axis=1)
        return np.asarray(np.where(offers[rows] >= 0, offered, -np.inf).argmax(axis=1))

    everybody = np.arange(len(weights))
    told, needed = answers(weights, everybody), np.full(len(weights), most + 1, dtype=np.int64)
    for false in range(1, most + 1):
        for move in moves(weights.shape[1], false):
            changed, open_ = weights.copy(), needed > false
            for own, shift in move:
                changed[:, own] += WHOLE * shift
            rows = np.flatnonzero(open_ & (changed >= 0).all(axis=1))
            needed[rows[answers(changed[rows], rows) != told[rows]]] = false
    return needed
