"""The question "which of these classes do you resemble most": the best of some under a public scorer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter
from privet.privacy import Unit
from privet.release.asks._base import ATTACHED, DRAWN_UP
from privet.release.asks._choice import Choice
from privet.release.asks.features import Features
from privet.release.private import PrivateData

__all__ = ["Resemblance", "as_integers", "check_scorer", "linear_scores", "row_by_row", "unit_scores"]

_PEOPLE = 1 << 12  # scored at a time, so that sums stay in the processor's cache
_LARGEST = 1 << 20  # the largest integer weight: sums of millions of features stay exact in 64-bit floats


def linear_scores(features: Any, scorer: NDArray[np.integer[Any]], unit_length: bool) -> NDArray[np.float64]:
    """Score each class for each person in O(non-zero features x classes).

    Every device must find the same class, so the order of the arithmetic is part of the question. All of it is in
    64-bit floats: score = 0; for each feature in order, score += feature * weight, both rounded; then score += offset,
    or length * offset, where the length is the root of the squares that are added in the same order. Features that are
    zero change nothing. A product of matrices would add in the order of the processor's choice.

    Args:
        features: One row a person, dense or CSR.
        scorer: One row of weights a feature, and a last row of offsets; one column a class.
        unit_length: True to divide each person's features by their length first, so that long texts are not favoured.
    """
    scores, squares = _sums(features, scorer)
    offsets = scorer[-1].astype(np.float64)
    # Scores times the length have the same largest class.
    return np.asarray(scores + (np.sqrt(squares)[:, None] * offsets if unit_length else offsets))


def unit_scores(features: Any, scorer: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """Score each class for features of length one, so that scores of something else can be added.

    The arithmetic is that of :func:`linear_scores`; then score = sum / length + offset, and the offset alone for
    features that are all zero.
    """
    scores, squares = _sums(features, scorer)
    lengths = np.sqrt(squares)[:, None]
    return np.asarray(np.divide(scores, lengths, out=np.zeros_like(scores), where=lengths > 0) + scorer[-1])


def _sums(features: Any, scorer: NDArray[np.integer[Any]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return scores without offsets, and sums of squares."""
    weights = scorer[:-1].astype(np.float64)
    if sp.issparse(features):
        rows = features.astype(np.float64).sorted_indices()
        scores = np.asarray(rows @ weights)  # which adds the entries of a row in their order
        return scores, np.asarray(rows.multiply(rows).tocsr() @ np.ones(len(weights)))
    return _in_order(np.asarray(features), weights)


def _in_order(features: NDArray[Any], weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return scores without offsets, and sums of squares, both added feature by feature."""
    scores, squares = np.zeros((len(features), weights.shape[1])), np.zeros(len(features))
    for start in range(0, len(features), _PEOPLE):
        block = slice(start, start + _PEOPLE)
        for column, weight in zip(features[block].T.astype(np.float64, order="C"), weights, strict=True):
            scores[block] += column[:, None] * weight
            squares[block] += column * column
    return scores, squares


def as_integers(weights: NDArray[np.floating[Any]]) -> NDArray[np.int32]:
    """Scale a linear scorer so that its largest weight is 2^20, and round it: integers are the same on every device."""
    largest = np.abs(weights).max(initial=0.0)
    return np.rint(weights * (_LARGEST / largest if largest else 1.0)).astype(np.int32)


def row_by_row(scorer: Callable[[Any], Any], features: Any) -> NDArray[np.float64]:
    """Apply a function to one row of features at a time, as on a device: one of several would mix people's data."""
    rows = [np.asarray(scorer(features[[i]]), dtype=np.float64) for i in range(features.shape[0])]
    if any(row.ndim != 2 or row.shape != (1, rows[0].shape[1]) for row in rows):
        raise InvalidData("A scorer must give one row with a score for each class, for one row of features.")
    return np.concatenate(rows) if rows else np.zeros((0, 0))


def check_scorer(scorer: Any, dimension: int | None = None) -> None:
    """Refuse a scorer that is neither a function nor a matrix of integers with a row for each feature and offsets.

    Args:
        scorer: The scorer; what is not here yet is not looked at.
        dimension: The number of features; None if it is not known.
    """
    if not isinstance(scorer, np.ndarray):
        return
    if scorer.ndim != 2 or not np.issubdtype(scorer.dtype, np.integer):
        raise InvalidParameter("scorer", "a matrix of integers, or a function", f"{scorer.ndim}-d {scorer.dtype}")
    if dimension is not None and len(scorer) != dimension + 1:
        raise InvalidData("scorer", f"{dimension + 1} rows: one a feature, and offsets", f"{len(scorer)} rows")


@dataclass(frozen=True)
class Resemblance(Choice):
    """The class of largest score by the features alone, among the classes that a person is offered.

    Formal guarantee: that of :class:`~privet.release.asks._choice.Choice` for the whole feature vector.

    Attributes:
        offers: The classes that each person is offered, ascending, N x columns, filled up with -1; whoever is offered
            fewer than two is not asked.
        scorer: The weights of a linear scorer, (features + 1) x classes integers, the last row offsets; or any public
            function of a feature matrix that returns one score a class, which cannot travel in a manifest.
        unit_length: True to divide each person's features by their length before a linear scorer.
    """

    name = "resemblance"
    unit = Unit.FEATURES
    part = "resemblance to classes"
    subject = "the class that you resemble most, of a few"
    budget = "epsilon_features"
    instead_of = (Features.name,)
    scorer: Any = field(default=None, compare=False, repr=False, metadata=ATTACHED)
    unit_length: bool = field(default=True, metadata=DRAWN_UP)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_scorer(self.scorer)

    def score(self, private: PrivateData) -> NDArray[np.float64]:
        """Score each class for each person's features."""
        return self.scores(private.features)

    def scores(self, features: Any) -> NDArray[np.float64]:
        """Score each class for each row of features, by the public function alone."""
        if features is None:
            raise InvalidData("The private data have no features.")
        if callable(self.scorer):
            return row_by_row(self.scorer, features)
        weights = self.attachment("scorer")
        check_scorer(weights, features.shape[1])
        return linear_scores(features, weights, self.unit_length)

    def check(self, private: PrivateData, population: Population) -> None:
        """Demand features that fit the schema, a scorer for them, and an offer of at least two known classes."""
        Features().check(private, population)
        if not callable(self.scorer):
            check_scorer(self.attachment("scorer"), population.dimension)
        super().check(private, population)

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values; a scorer that is a function is named as such."""
        found = super().to_dict()
        return {**found, "scorer": "function"} if callable(self.scorer) else found
