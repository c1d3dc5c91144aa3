"""The question "which of these classes do you resemble most": the best of some under a public scorer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter, InvalidReports
from privet.mechanisms import Mechanism, OfferedResponse
from privet.privacy import Unit
from privet.release.asks._base import ATTACHED, DRAWN_UP, PER_PERSON, Ask, OwnRow
from privet.release.asks.features import Features
from privet.release.pretence import Pretence
from privet.release.private import PrivateData

__all__ = ["Resemblance", "as_integers", "linear_scores"]

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
    weights, offsets = scorer[:-1].astype(np.float64), scorer[-1].astype(np.float64)
    if sp.issparse(features):
        rows = features.astype(np.float64).sorted_indices()
        scores = np.asarray(rows @ weights)  # which adds the entries of a row in their order
        squares = np.asarray(rows.multiply(rows).tocsr() @ np.ones(len(weights)))
    else:
        scores, squares = _in_order(np.asarray(features), weights)
    # Scores times the length have the same largest class.
    return np.asarray(scores + (np.sqrt(squares)[:, None] * offsets if unit_length else offsets))


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
    offers: Any = field(default=None, compare=False, repr=False, metadata=PER_PERSON)
    unit_length: bool = field(default=True, metadata=DRAWN_UP)

    def __post_init__(self) -> None:
        if isinstance(self.scorer, np.ndarray) and (
            self.scorer.ndim != 2 or not np.issubdtype(self.scorer.dtype, np.integer)
        ):
            found = f"{self.scorer.ndim}-d {self.scorer.dtype}"
            raise InvalidParameter("scorer", "a matrix of integers, or a function", found)
        if isinstance(self.offers, np.ndarray):
            object.__setattr__(self, "offers", _checked_offers(self.offers))
        elif isinstance(self.offers, OwnRow):
            _checked_offers(self.offers.row[None])

    def people(self) -> NDArray[np.int64] | None:
        """Return the people who are offered two classes or more."""
        return np.flatnonzero(self.options() > 1) if isinstance(self.offers, np.ndarray) else None

    def options(self) -> NDArray[np.int64]:
        """Return the number of classes that each person is offered."""
        return np.asarray((self.attachment("offers") >= 0).sum(axis=1))

    def apply(self, private: PrivateData, mechanism: Mechanism) -> NDArray[np.int64]:
        """Return the position of the best offered class, and the number of classes that were offered."""
        offers = self.rows("offers", private.users)
        options = (offers >= 0).sum(axis=1)
        if len(options) and options.min() < 2:
            raise InvalidData("Somebody who is asked is offered fewer than two classes.")
        scores = self.scores(private.features)
        if offers.size and offers.max() >= scores.shape[1]:
            expected = f"classes below {scores.shape[1]}, which the scorer knows"
            raise InvalidData("offered classes", expected, int(offers.max()))
        offered = np.take_along_axis(scores, np.maximum(offers, 0), axis=1)
        best = np.where(offers >= 0, offered, -np.inf).argmax(axis=1)
        return np.stack([best, options], axis=1)

    def speaks_for(self, pretence: Pretence, mechanism: Mechanism) -> sp.csr_array:
        """Resemble the other class if it is offered, and else any but the own one."""
        offers = self.rows("offers", pretence.users)
        told = (offers == pretence.wanted[:, None]).astype(np.float64) - 0.5 * (offers == pretence.own[:, None])
        columns = mechanism.most  # type: ignore[attr-defined]
        return sp.csr_array(np.pad(told, ((0, 0), (0, max(columns - told.shape[1], 0))))[:, :columns])

    def scores(self, features: Any) -> NDArray[np.float64]:
        """Score each class for each row of features, by the public function alone."""
        if features is None:
            raise InvalidData("The private data have no features.")
        if callable(self.scorer):
            # One row at a time, as on a device: a function of several rows would mix people's data.
            rows = [np.asarray(self.scorer(features[[i]]), dtype=np.float64) for i in range(features.shape[0])]
            if any(row.ndim != 2 or row.shape != (1, rows[0].shape[1]) for row in rows):
                raise InvalidData("A scorer must give one row with a score for each class, for one row of features.")
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
        own = self.rows("offers", private.users[:1])
        if len(self.offers) != population.num_nodes or (own.size and own.max() >= population.classes):
            raise InvalidData(
                f"The offered classes must be below {population.classes}, for each of {population.num_nodes} people."
            )
        if (own >= 0).sum() < 2:
            raise InvalidData("You are offered fewer than two classes, so you are not asked.")

    def asks(self, person: int) -> bool:
        """Tell whether a person is offered two classes or more."""
        return bool((self.rows("offers", np.array([person])) >= 0).sum() > 1)

    def check_row(self, name: str, mechanism: Mechanism, population: Population) -> None:
        """Refuse offers of unknown classes, and of more classes than the mechanism chooses among."""
        row = self.offers.row
        if row.size and row.max() >= population.classes:
            raise InvalidData("offered classes", f"below {population.classes}", int(row.max()))
        if (row >= 0).sum() > mechanism.most:  # type: ignore[attr-defined]
            raise InvalidData("offered classes", f"at most {mechanism.most}", int((row >= 0).sum()))  # type: ignore[attr-defined]

    def check_answers(self, users: NDArray[np.int64], reports: Any, mechanism: Mechanism) -> None:
        """Refuse answers among more or fewer classes than a person was offered."""
        if not isinstance(self.offers, np.ndarray):
            return
        _, options = mechanism.decode(reports)  # type: ignore[attr-defined]
        if not np.array_equal(options, (self.offers[users] >= 0).sum(axis=1)):
            raise InvalidReports(f"The answers to '{self.name}' must be among the classes that were offered.")

    def check_mechanism(self, mechanism: Mechanism) -> None:
        """Refuse a mechanism that does not choose among offered options."""
        super().check_mechanism(mechanism)
        if not isinstance(mechanism, OfferedResponse):
            expected = f"'{OfferedResponse.name}'"
            raise InvalidParameter("mechanism", expected, mechanism.name)

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values; a scorer that is a function is named as such."""
        found = super().to_dict()
        return {**found, "scorer": "function"} if callable(self.scorer) else found


def _checked_offers(offers: NDArray[Any]) -> NDArray[np.int16]:
    if offers.ndim != 2 or not np.issubdtype(offers.dtype, np.integer):
        raise InvalidParameter("offers", "a matrix of classes", f"{offers.ndim}-d {offers.dtype}")
    before, after = offers[:, :-1], offers[:, 1:]
    if offers.size and (
        offers.min() < -1
        or offers.max() > np.iinfo(np.int16).max
        or ((after >= 0) & (after <= before) | (before < 0) & (after >= 0)).any()
    ):
        raise InvalidParameter("offers must be ascending classes in each row, each once, filled up with -1.")
    return offers.astype(np.int16)
