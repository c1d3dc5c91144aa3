"""The question "which of these classes do you resemble most": the best of some under a public scorer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import Mechanism, OfferedResponse
from privet.privacy import Unit
from privet.release.asks._base import ATTACHED, DRAWN_UP, Ask
from privet.release.asks.features import Features
from privet.release.private import PrivateData

__all__ = ["Resemblance", "as_integers", "linear_scores"]

_LARGEST = 1 << 20  # the largest integer weight: sums of millions of features stay exact in 64-bit floats


def linear_scores(features: Any, scorer: NDArray[np.integer[Any]], unit_length: bool) -> NDArray[np.float64]:
    """Score each class for each person in O(non-zero features x classes).

    Args:
        features: One row a person, dense or CSR.
        scorer: One row of weights a feature, and a last row of offsets; one column a class.
        unit_length: True to divide each person's features by their length first, so that long texts are not favoured.
    """
    weights, offsets = scorer[:-1].astype(np.float64), scorer[-1].astype(np.float64)
    scores = np.asarray(features @ weights)
    if unit_length:  # scores times the length have the same largest class
        squares = features.multiply(features) if sp.issparse(features) else np.square(features)
        offsets = np.sqrt(np.asarray(squares.sum(axis=1), dtype=np.float64)).reshape(-1, 1) * offsets
    return np.asarray(scores + offsets, dtype=np.float64)


def as_integers(weights: NDArray[np.floating[Any]]) -> NDArray[np.int32]:
    """Scale a linear scorer so that its largest weight is 2^20, and round it: integers are the same on every device."""
    largest = np.abs(weights).max(initial=0.0)
    return np.rint(weights * (_LARGEST / largest if largest else 1.0)).astype(np.int32)


@dataclass(frozen=True)
class Resemblance(Ask):
    """The class of largest score among the classes that a person is offered.

    Formal guarantee: the answer is a public function of the features, so randomised response over the offered classes
    protects the whole feature vector with its epsilon, whatever the scorer and the offers are, and whatever the server
    learned before from others.

    Attributes:
        scorer: The weights of a linear scorer, (features + 1) x classes integers, the last row offsets; or any public
            function of a feature matrix that returns one score a class, which cannot travel in a manifest.
        offers: The classes that each person is offered, ascending, N x columns, filled up with -1; whoever is offered
            fewer than two is not asked.
        unit_length: True to divide each person's features by their length before a linear scorer.
    """

    name = "resemblance"
    unit = Unit.FEATURES
    part = "resemblance to classes"
    subject = "the class that you resemble most, of a few"
    budget = "epsilon_features"
    instead_of = (Features.name,)
    scorer: Any = field(default=None, compare=False, repr=False, metadata=ATTACHED)
    offers: Any = field(default=None, compare=False, repr=False, metadata=ATTACHED)
    unit_length: bool = field(default=True, metadata=DRAWN_UP)

    def __post_init__(self) -> None:
        if isinstance(self.scorer, np.ndarray) and (
            self.scorer.ndim != 2 or not np.issubdtype(self.scorer.dtype, np.integer)
        ):
            found = f"{self.scorer.ndim}-d {self.scorer.dtype}"
            raise InvalidParameter("scorer", "Resemblance", "a matrix of integers, or a function", found)
        if isinstance(self.offers, np.ndarray):
            object.__setattr__(self, "offers", _checked_offers(self.offers))

    def people(self) -> NDArray[np.int64] | None:
        """Return the people who are offered two classes or more."""
        return np.flatnonzero(self.options() > 1) if isinstance(self.offers, np.ndarray) else None

    def options(self) -> NDArray[np.int64]:
        """Return the number of classes that each person is offered."""
        return np.asarray((self.attachment("offers") >= 0).sum(axis=1))

    def apply(self, private: PrivateData, mechanism: Mechanism) -> NDArray[np.int64]:
        """Return the position of the best offered class, and the number of classes that were offered."""
        offers = self.attachment("offers")[private.users]
        options = (offers >= 0).sum(axis=1)
        if len(options) and options.min() < 2:
            raise InvalidData("people who are asked", "offered two classes or more", "somebody who is not")
        scores = self.scores(private.features)
        if offers.size and offers.max() >= scores.shape[1]:
            expected = f"classes below {scores.shape[1]}, which the scorer knows"
            raise InvalidData("offered classes", expected, int(offers.max()))
        offered = np.take_along_axis(scores, np.maximum(offers, 0), axis=1)
        best = np.where(offers >= 0, offered, -np.inf).argmax(axis=1)
        return np.stack([best, options], axis=1)

    def scores(self, features: Any) -> NDArray[np.float64]:
        """Score each class for each row of features, by the public function alone."""
        if features is None:
            raise InvalidData("private data", "with features", "none")
        if callable(self.scorer):
            # One row at a time, as on a device: a function of several rows would mix people's data.
            rows = [np.asarray(self.scorer(features[[i]]), dtype=np.float64) for i in range(features.shape[0])]
            if any(row.ndim != 2 or row.shape != (1, rows[0].shape[1]) for row in rows):
                raise InvalidData("scores of one person", "one row with a score for each class", "another shape")
            return np.concatenate(rows) if rows else np.zeros((0, 0))
        weights = self.attachment("scorer")
        if len(weights) != features.shape[1] + 1:
            expected = f"{features.shape[1] + 1} rows: one a feature, and offsets"
            raise InvalidData("scorer", expected, f"{len(weights)} rows")
        return linear_scores(features, weights, self.unit_length)

    def check(self, private: PrivateData, population: Population) -> None:
        """Demand features that fit the schema, a scorer for them, and an offer of at least two known classes."""
        Features().check(private, population)
        if not callable(self.scorer) and len(self.attachment("scorer")) != population.dimension + 1:
            expected = f"{population.dimension + 1} rows: one a feature, and offsets"
            raise InvalidData("scorer", expected, f"{len(self.scorer)} rows")
        offers = self.attachment("offers")
        if len(offers) != population.num_nodes or (offers.size and offers.max() >= population.classes):
            expected = f"classes below {population.classes} for each of {population.num_nodes} people"
            raise InvalidData("offered classes", expected, "others")
        if self.options()[private.users[0]] < 2:
            raise InvalidData("offered classes", "two or more for you", "fewer, so you are not asked")

    def check_mechanism(self, mechanism: Mechanism) -> None:
        """Refuse a mechanism that does not choose among offered options."""
        super().check_mechanism(mechanism)
        if not isinstance(mechanism, OfferedResponse):
            expected = f"'{OfferedResponse.name}'"
            raise InvalidParameter("mechanism", f"the question '{self.name}'", expected, mechanism.name)

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values; a scorer that is a function is named as such."""
        found = super().to_dict()
        return {**found, "scorer": "function"} if callable(self.scorer) else found


def _checked_offers(offers: NDArray[Any]) -> NDArray[np.int16]:
    if offers.ndim != 2 or not np.issubdtype(offers.dtype, np.integer):
        raise InvalidParameter("offers", "Resemblance", "a matrix of classes", f"{offers.ndim}-d {offers.dtype}")
    before, after = offers[:, :-1], offers[:, 1:]
    if offers.size and (
        offers.min() < -1
        or offers.max() > np.iinfo(np.int16).max
        or ((after >= 0) & (after <= before) | (before < 0) & (after >= 0)).any()
    ):
        expected = "ascending classes, each once, filled up with -1"
        raise InvalidParameter("offers", "Resemblance", expected, "others")
    return offers.astype(np.int16)
