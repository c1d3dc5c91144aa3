"""Naive Bayes for bags of words: how much more often people of a class use a word than others do."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["naive_bayes", "naive_bayes_left_out"]

Array = NDArray[np.float64]

_STRENGTH = 30.0  # the weight, in rows of length 1, of the assumption that all classes use words alike
_FOLDS = 10


def naive_bayes(rows: sp.csr_array, labels: NDArray[np.integer[Any]], classes: int) -> Array:
    """Return log(share of a feature in a class / share among everybody), features x classes.

    A product of rows with these weights is a linear score. Ridge regression finds what tells classes apart in the rows
    that it sees; this looks at each feature by itself and so learns something else from few people.

    Args:
        rows: Features of at least 0, one row a person.
        labels: Their classes.
        classes: The number of classes.
    """
    of_class = sp.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(classes, len(labels)))
    sums = np.asarray((of_class @ rows).toarray())
    everybody = sums.sum(axis=0)
    used = everybody > 0
    usual = np.where(used, everybody, 1.0) / max(float(everybody.sum()), 1e-12)
    shares = (sums + _STRENGTH * usual) / (sums.sum(axis=1, keepdims=True) + _STRENGTH)
    return np.asarray(np.where(used, np.log(shares) - np.log(usual), 0.0).T)


def naive_bayes_left_out(rows: sp.csr_array, labels: NDArray[np.integer[Any]], classes: int, *, seed: int) -> Array:
    """Score each person by weights from people of the other folds, people x classes.

    Args:
        rows: As for :func:`naive_bayes`.
        labels: As for :func:`naive_bayes`.
        classes: As for :func:`naive_bayes`.
        seed: The seed of the folds.
    """
    fold = np.random.default_rng(seed).permutation(len(labels)) % _FOLDS
    scores = np.zeros((len(labels), classes))
    for number in range(_FOLDS):
        held = fold == number
        scores[held] = rows[held] @ naive_bayes(rows[~held], labels[~held], classes)
    return scores
