"""The public function of the person question: how far features and friends' published classes count, from a panel.

    score_c = scorer(x)_c + sum over k of G[k, c] log(s_k / p_k) + o_c

The scorer is a1 times a ridge regression plus a2 times naive Bayes, and G is b I + D: three weights, a small matrix D
that a panel of some hundred people can learn because it is held near 0, and an offset for each class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.estimation.answers.naive_bayes import naive_bayes, naive_bayes_left_out
from privet.estimation.answers.scorers import Ridge, ridge, unit_rows
from privet.estimation.shared_weights import SharedWeights
from privet.release.asks.person import scaled_together

__all__ = [
    "PersonFunction",
    "fit_person_function",
    "friends_alone",
    "with_given_scorer",
    "with_unseen_friends",
]

Array = NDArray[np.float64]

_RARE = 0.3  # how far a rare class must be told more clearly by friends, where nothing else is known
_UNSEEN = 1.5  # the weight of friends where nobody shows a list; on dense networks it should be larger
_MOST = 3000  # people of a panel from whom weights are fitted
_SIZE = 10.0  # left-out scores are of the order of 0.1; the penalty of their weights is as small
_MIXING = 10.0  # the pull of D towards 0, in the units of the pull of all other weights
_EXPECTED = 5.0  # the weight of all feature scores together before anything is known


@dataclass(frozen=True, eq=False)
class PersonFunction:
    """A public function of everything on a device, in the whole numbers that devices compute with.

    Attributes:
        scorer: (features + 1) x classes, the last row offsets; None where features are not read.
        unit_length: True if features are divided by their length first.
        mixing: G, classes x classes; None where friends are not read.
        scores: The scores of the panel's people by functions that did not see them; None without a panel.
        labels: Their classes, or None.
        unit: The whole number that stands for 1.
    """

    scorer: Any
    unit_length: bool = True
    mixing: NDArray[np.int32] | None = None
    scores: Array | None = None
    labels: NDArray[np.int64] | None = None
    unit: float = 1.0


def friends_alone(shares: Array) -> PersonFunction:
    """Return the function without features and weights to learn: the class whose share among friends is most unusual.

    Offsets decide for people without friends whose class is published, and where few friends tell little.

    Args:
        shares: The shares of the classes among all people.
    """
    offsets, mixing = scaled_together(_RARE * np.log(shares)[None], np.eye(len(shares)))
    return PersonFunction(offsets, mixing=mixing)


def with_given_scorer(scorer: Any, classes: int, friends: bool) -> PersonFunction:
    """Add friends to a given scorer of features, whose scores must be log-odds.

    Args:
        scorer: A matrix of (features + 1) x classes, or a function of features.
        classes: The number of classes.
        friends: True if the answer depends on friends too.
    """
    if callable(scorer):  # its scores are added as they are, to log-shares in units of 1
        return PersonFunction(scorer, False, np.eye(classes, dtype=np.int32) if friends else None)
    weights, mixing = scaled_together(np.asarray(scorer, dtype=np.float64), np.eye(classes))
    return PersonFunction(weights, False, mixing if friends else None)


def with_unseen_friends(function: PersonFunction, classes: int) -> PersonFunction:
    """Add friends to a function of features at a fixed weight, where the panel shows no lists to learn it from.

    Args:
        function: The function of features, fitted on a panel.
        classes: The number of classes.
    """
    scorer, mixing = scaled_together(function.scorer / function.unit, _UNSEEN * np.eye(classes))
    return PersonFunction(scorer, function.unit_length, mixing)


def fit_person_function(
    features: Any,
    friends: Array | None,
    labels: NDArray[np.integer[Any]],
    shares: Array,
    *,
    seed: int = 0,
) -> PersonFunction:
    """Fit the function's weights on what a panel shows, by logistic regression on left-out scores.

    Args:
        features: The features of the panel's people, dense or CSR.
        friends: log(s_k / p_k) of each of them, people x classes; None where friends are not read.
        labels: Their classes, at least two different ones.
        shares: The shares of the classes among all people.
        seed: The seed of the choice of people, where a panel is so large that not all are needed, and of folds.
    """
    classes, by_ridge = len(shares), ridge(features, labels, len(shares), seed=seed)
    people, targets = by_ridge.people[:_MOST], by_ridge.labels[:_MOST]
    sources, parts = _feature_sources(features, by_ridge, classes, seed)
    evidence = [np.broadcast_to(np.log(shares), (len(people), classes)), *(_SIZE * each[:_MOST] for each in sources)]
    expected = [1.0, *[_EXPECTED / _SIZE / len(sources)] * len(sources)]
    if friends is not None:
        told = friends[people]
        evidence += [told, *_cells(told / np.sqrt(_MIXING))]
        expected += [1.0, *[0.0] * classes**2]
    stacked = np.stack(evidence, axis=1)
    found = SharedWeights.fit(stacked, np.eye(classes)[targets], expected, 1.0)
    prior, of_features, rest = np.split(found.weights, [1, 1 + len(sources)])
    scorer = sum(weight * _SIZE * part for weight, part in zip(of_features, parts, strict=True))
    scorer = np.asarray(scorer)
    scorer[-1] += prior[0] * np.log(shares) + found.offsets
    scorer -= scorer.mean(axis=1, keepdims=True)  # which changes every class alike
    mixing = np.zeros((classes, classes))
    if friends is not None:
        mixing = rest[0] * np.eye(classes) + rest[1:].reshape(classes, classes) / np.sqrt(_MIXING)
        mixing -= mixing.mean(axis=1, keepdims=True)
    whole, mixed = scaled_together(scorer, mixing)
    scores = found.logits(stacked)
    unit = float(np.abs(whole).max()) / max(float(np.abs(scorer).max()), 1e-12)
    return PersonFunction(whole, by_ridge.unit_length, None if friends is None else mixed, scores, targets, unit)


def _feature_sources(features: Any, by_ridge: Ridge, classes: int, seed: int) -> tuple[list[Array], list[Array]]:
    """Return left-out scores of the panel's people, and the weights behind them, by each kind of scorer."""
    weights = by_ridge.weights
    scores = by_ridge.scores - by_ridge.scores.mean(axis=1, keepdims=True)
    rows = sp.csr_array(features, dtype=np.float64)
    if not by_ridge.unit_length or (rows.nnz and rows.data.min() < 0):
        return [scores], [weights]
    words = unit_rows(rows[by_ridge.people])
    other = naive_bayes_left_out(words, by_ridge.labels, classes, seed=seed)
    learned = np.vstack([naive_bayes(words, by_ridge.labels, classes), np.zeros(classes)])
    return [scores, other - other.mean(axis=1, keepdims=True)], [weights, learned]


def _cells(told: Array) -> list[Array]:
    """Return one source of evidence for each cell of D: what share k tells about class c, and nothing elsewhere."""
    classes = told.shape[1]
    found = []
    for k in range(classes):
        for c in range(classes):
            cell = np.zeros_like(told)
            cell[:, c] = told[:, k]
            found.append(cell)
    return found
