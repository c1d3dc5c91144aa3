"""Public scorers of classes: linear functions of features, from people who show theirs or from noisy sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.errors import InvalidData
from privet.release.asks.resemblance import as_integers

__all__ = [
    "LinearScorer",
    "Ridge",
    "check_classes",
    "mean_scorer",
    "panel_scorer",
    "pilot_scorer",
    "ridge",
    "unit_rows",
]

Array = NDArray[np.float64]

_PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_DENSE = 0.25  # share of non-zero entries from which features count as dense
_TUNED_ON = 400  # people of a panel on whom the penalty is chosen
_MOST = 3000  # people or features up to which a system of equations is solved exactly


@dataclass(frozen=True, eq=False)
class LinearScorer:
    """A linear scorer, and how it does on people whom it did not learn from.

    Attributes:
        weights: (features + 1) x classes integers; the last row holds offsets.
        unit_length: True if features are divided by their length first.
        scores: The scores of people of known class by scorers that did not see them, or None.
        labels: The classes of these people, or None.
        absent: The classes of which there was nobody to learn from; their scores mean nothing.
    """

    weights: NDArray[np.int32]
    unit_length: bool
    scores: Array | None = None
    labels: NDArray[np.int64] | None = None
    absent: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Ridge:
    """A ridge regression of classes on features.

    Attributes:
        weights: (features + 1) x classes, the last row offsets.
        unit_length: True if features are divided by their length first.
        people: The places, among the given rows, of the people that it learned from.
        labels: Their classes.
        scores: Their scores by regressions that did not see them.
    """

    weights: Array
    unit_length: bool
    people: NDArray[np.int64]
    labels: NDArray[np.int64]
    scores: Array


def ridge(features: Any, labels: NDArray[np.integer[Any]], classes: int, *, seed: int | None = 0) -> Ridge:
    """Fit a ridge regression as :func:`panel_scorer` does, and keep its real weights.

    Args:
        features: As for :func:`panel_scorer`.
        labels: As for :func:`panel_scorer`.
        classes: As for :func:`panel_scorer`.
        seed: As for :func:`panel_scorer`.
    """
    check_classes(labels, classes, "A panel")
    order = np.random.default_rng(seed).permutation(len(labels))
    dual = features.shape[1] >= len(labels)
    kept = order[: _MOST if dual else None]
    rows, targets = sp.csr_array(features, dtype=np.float64)[kept], labels[kept].astype(np.int64)
    some = slice(0, _TUNED_ON)
    form = _UnitRows() if rows.nnz < _DENSE * rows.shape[0] * rows.shape[1] else _Columns.of(rows)
    inputs = form.inputs(rows[some])
    penalty = min(_PENALTIES, key=lambda each: _left_out(inputs, targets[some], classes, each)[0])
    _, scores, weights = _left_out(form.inputs(rows), targets, classes, penalty)
    return Ridge(form.linear(weights), form.unit_length, kept, targets, scores)


def panel_scorer(
    features: Any, labels: NDArray[np.integer[Any]], classes: int, *, seed: int | None = 0
) -> LinearScorer:
    """Fit a ridge regression of classes on the features of a panel.

    Rows of sparse features (bags of words) are scaled to length 1, columns of dense ones to deviation 1. The penalty is
    chosen by leaving each person out in turn, for which ridge regression has a closed form. The scores of people left
    out come with it.

    Args:
        features: The features of the people of the panel, dense or CSR.
        labels: Their classes, at least two different ones.
        classes: The number of classes.
        seed: The seed of the choice of people, where a panel is so large that not all are needed.
    """
    found, absent = ridge(features, labels, classes, seed=seed), check_classes(labels, classes, "A panel")
    return LinearScorer(as_integers(found.weights), found.unit_length, found.scores, found.labels, absent)


def mean_scorer(sums: Array, counts: NDArray[np.integer[Any]], noise: float) -> LinearScorer:
    """Score by the nearest class mean, from noisy sums of unit-length features of each class.

    Args:
        sums: The noisy sums, classes x features.
        counts: The number of people behind each sum; at least two are above 0.
        noise: The standard deviation of the noise of each entry of the sums.
    """
    absent = check_classes(np.flatnonzero(counts), len(counts), "An aggregator of class sums")
    people = np.maximum(counts, 1)
    means = np.where(counts > 0, 1.0, 0.0)[:, None] * sums / people[:, None]
    squares = (means**2).sum(axis=1) - means.shape[1] * (noise / people) ** 2  # without the noise's own length
    weights = as_integers(np.vstack([means.T, -np.maximum(squares, 0) / 2]))
    return LinearScorer(weights, unit_length=True, absent=absent)


def pilot_scorer(estimate: Any, noise: Array, labels: NDArray[np.integer[Any]], classes: int) -> LinearScorer:
    """Fit linear discriminants from unbiased but noisy features of people of known class.

    The covariance within classes is that of the estimates less that of the noise, which is known.

    Args:
        estimate: The estimated features of the pilot's people, dense, people x features.
        noise: The variance of each feature's estimate.
        labels: The people's classes, at least two different ones.
        classes: The number of classes.
    """
    absent = check_classes(labels, classes, "A pilot")
    counts = np.bincount(labels, minlength=classes)
    rows = np.asarray(estimate, dtype=np.float64)
    means = np.zeros((classes, rows.shape[1]))
    np.add.at(means, labels, rows)
    means /= np.maximum(counts, 1)[:, None]
    centred = rows - means[labels]
    covariance = centred.T @ centred / len(rows)
    values, vectors = np.linalg.eigh(covariance - np.diag(noise))
    floor = max(np.median(np.maximum(values, 0)), noise.mean() / np.sqrt(len(rows)), 1e-12)
    inverse = (vectors / np.maximum(values, floor)) @ vectors.T
    weights = inverse @ means.T
    offsets = -0.5 * np.einsum("cd,dc->c", means, weights) + np.log(np.maximum(counts, 1) / counts.sum())
    return LinearScorer(as_integers(np.vstack([weights, offsets])), unit_length=False, absent=absent)


def check_classes(labels: NDArray[np.integer[Any]], classes: int, who: str) -> tuple[int, ...]:
    """Refuse people of fewer than two classes, and return the classes of which there is nobody.

    Args:
        labels: Their classes.
        classes: The number of classes.
        who: The beginning of the sentence, such as "A panel".
    """
    absent = np.setdiff1d(np.arange(classes), labels)
    if len(absent) > classes - 2:
        found = "one class" if len(absent) == classes - 1 else "no class"
        raise InvalidData(f"{who} needs people of at least two classes and has people of {found}. Take more people.")
    return tuple(int(each) for each in absent)


def unit_rows(features: Any) -> sp.csr_array:
    """Scale each row to length 1; rows of zeros stay."""
    rows = sp.csr_array(features, dtype=np.float64)
    length = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return sp.csr_array(sp.diags_array(1 / np.where(length > 0, length, 1.0), format="csr") @ rows)


@dataclass(frozen=True)
class _UnitRows:
    """Rows of length 1: right for bags of words."""

    unit_length = True

    def inputs(self, rows: sp.csr_array) -> Any:
        return unit_rows(rows)

    def linear(self, weights: Array) -> Array:
        return weights


@dataclass(frozen=True, eq=False)
class _Columns:
    """Columns of mean 0 and deviation 1: right for measurements."""

    mean: Array
    scale: Array
    unit_length = False

    @classmethod
    def of(cls, rows: sp.csr_array) -> _Columns:
        mean = np.asarray(rows.mean(axis=0)).ravel()
        variance = np.asarray(rows.multiply(rows).mean(axis=0)).ravel() - mean**2
        return cls(mean, np.where(variance > 1e-12, 1 / np.sqrt(np.maximum(variance, 1e-12) * rows.shape[1]), 0.0))

    def inputs(self, rows: sp.csr_array) -> Any:
        return (rows.toarray() - self.mean) * self.scale

    def linear(self, weights: Array) -> Array:
        """Fold the scaling of columns into the weights and offsets."""
        scaled = weights[:-1] * self.scale[:, None]
        return np.vstack([scaled, weights[-1] - self.mean @ scaled])


def _left_out(inputs: Any, labels: NDArray[np.int64], classes: int, penalty: float) -> tuple[float, Array, Array]:
    """Return the squared error on people left out, their scores, and the weights with offsets as their last row.

    With G = X X' + 1 and A = (G + penalty I)^-1, the score of person i without i is y_i - (A Y)_i / A_ii; where
    features are fewer than people, the same comes from the matrix of features.
    """
    targets = np.eye(classes)[labels]
    people, width = inputs.shape
    if people <= width:
        gram = inputs @ inputs.T
        gram = (gram.toarray() if sp.issparse(gram) else gram) + 1.0
        inverse = np.linalg.inv(gram + penalty * np.eye(people))
        solved = inverse @ targets
        scores = targets - solved / np.diag(inverse)[:, None]
        weights = np.vstack([inputs.T @ solved, solved.sum(axis=0)])
    else:
        ones = np.ones((people, 1))
        rows = sp.csr_array(sp.hstack([sp.csr_array(inputs), sp.csr_array(ones)]))
        inverse = np.linalg.inv((rows.T @ rows).toarray() + penalty * np.eye(width + 1))
        weights = inverse @ np.asarray(rows.T @ targets)
        leverage = np.asarray(rows.multiply(rows @ inverse).sum(axis=1)).reshape(-1, 1)
        fitted = np.asarray(rows @ weights)
        scores = targets - (targets - fitted) / np.maximum(1 - leverage, 1e-9)
    return float(((scores - targets) ** 2).mean()), scores, weights
