"""The question "which class does everything on your device point to": features and friend list in one answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter
from privet.privacy import Unit
from privet.release.asks._base import ATTACHED, DRAWN_UP
from privet.release.asks._choice import Choice
from privet.release.asks.features import Features
from privet.release.asks.neighbours import Neighbours
from privet.release.asks.resemblance import check_scorer, linear_scores, row_by_row, unit_scores
from privet.release.log_shares import LARGEST_SHARES, WHOLE, mixed, published_weights
from privet.release.private import PrivateData

__all__ = ["Person", "in_255ths", "scaled_together"]

_LARGEST = 1 << 20  # the largest whole weight: sums of products with log-shares stay exact in 64-bit floats
_UNITS = {"everything": Unit.PERSON, "friends": Unit.FRIEND_LIST, "features": Unit.FEATURES}
_PARTS = {"everything": "features and friends", "friends": "friend list", "features": "features in one answer"}
_SUBJECTS = {
    "everything": "the class that your answers and your friends point to, of a few",
    "friends": "the class that your friends point to, of a few",
    "features": "the class that your answers point to, of a few",
}


def in_255ths(classes: NDArray[np.floating[Any]]) -> NDArray[np.uint8]:
    """Round class probabilities to the weights of a published table; rows of zeros publish nothing.

    Args:
        classes: One row a person, each between 0 and 1; a known class is a 1.
    """
    return np.asarray(np.rint(classes * WHOLE), dtype=np.uint8)


def scaled_together(
    scorer: NDArray[np.floating[Any]], mixing: NDArray[np.floating[Any]]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Scale both parts of a function alike, so that the largest weight of all is 2^20, and round them.

    Args:
        scorer: Real weights of features, with a last row of offsets.
        mixing: Real weights of log-shares.
    """
    largest = max(np.abs(scorer).max(initial=0.0), np.abs(mixing).max(initial=0.0))
    factor = _LARGEST / largest if largest else 1.0
    return np.rint(scorer * factor).astype(np.int32), np.rint(mixing * factor).astype(np.int32)


@dataclass(frozen=True)
class Person(Choice):
    """The class of largest score by features and by the published classes of friends, of the offered classes.

        score_c = scorer(x)_c + sum over k of mixing[k, c] log(s_k / p_k),
        s_k = (n_k + 0.3 p_k) / (n + 0.3),

    where n_k is the published weight of class k among the person's friends, n the sum of all n_k, and p_k the class's
    share among all people. The device downloads the table whole: asking the server about a friend would tell who the
    friend is. All arithmetic is in 64-bit floats, in the order of :func:`~privet.release.asks.resemblance.unit_scores`
    and :mod:`privet.release.log_shares`: the scorer's score first, then the friends' score is added.

    Formal guarantee: that of :class:`~privet.release.asks._choice.Choice` for everything on the device together: any
    two people, with any features and any friend lists, give answers whose probabilities differ by at most e^epsilon. A
    relationship is on two devices; if both answer, the two answers cost it 2 epsilon.

    Attributes:
        offers: The classes that each person is offered, ascending, N x columns, filled up with -1; whoever is offered
            fewer than two is not asked.
        reads: "everything" (features and friends, the default), "friends" or "features".
        scorer: The weights of a linear scorer, (features + 1) x classes integers, the last row offsets; or any public
            function of a feature matrix that returns one score a class. Where features are not read, the last row alone
            counts, and no scorer is needed.
        unit_length: True to divide each person's features by their length before a linear scorer.
        table: The published weight of each class for each of the N people, in 255ths, N x classes; zeros where nothing
            is published. Not needed, like the rest, where friends are not read.
        mixing: Whole numbers G, classes x classes: column c says what friends of each class tell about class c.
        shares: Whole numbers above 0 in proportion to the class shares.
    """

    name = "person"
    unit = Unit.PERSON
    part = _PARTS["everything"]
    subject = _SUBJECTS["everything"]
    budget = "epsilon_person"
    publishes_classes = True
    reads: str = "everything"
    scorer: Any = field(default=None, compare=False, repr=False, metadata=ATTACHED)
    unit_length: bool = field(default=True, metadata=DRAWN_UP)
    table: Any = field(default=None, compare=False, repr=False, metadata=ATTACHED)
    mixing: Any = field(default=None, compare=False, repr=False, metadata=ATTACHED)
    shares: Any = field(default=None, compare=False, repr=False, metadata=ATTACHED)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reads not in _UNITS:
            raise InvalidParameter("reads", "everything, friends or features", self.reads)
        for name, words in (("unit", _UNITS), ("part", _PARTS), ("subject", _SUBJECTS)):
            object.__setattr__(self, name, words[self.reads])
        object.__setattr__(self, "publishes_classes", self.reads_friends)
        object.__setattr__(self, "weighs_friends", self.reads_friends and self.reads_features)
        check_scorer(self.scorer)
        if isinstance(self.table, np.ndarray) and (self.table.ndim != 2 or self.table.dtype != np.uint8):
            found = f"{self.table.ndim}-d {self.table.dtype}"
            raise InvalidParameter("table", "a matrix of 255ths, integers of 8 bits without sign", found)
        for name in ("mixing", "shares"):
            if isinstance(getattr(self, name), np.ndarray):
                object.__setattr__(self, name, _whole(name, getattr(self, name)))

    @property
    def reads_features(self) -> bool:
        """True if the answer depends on features."""
        return self.reads != "friends"

    @property
    def reads_friends(self) -> bool:
        """True if the answer depends on the friend list."""
        return self.reads != "features"

    def needs(self, name: str) -> bool:
        """Tell whether an attached array is part of the function; a scorer of offsets alone may be left out."""
        return name == "offers" or (self.reads_features if name == "scorer" else self.reads_friends)

    def score(self, private: PrivateData) -> NDArray[np.float64]:
        """Score each class for each person."""
        weights = None
        if self.reads_friends:
            if private.neighbours is None:
                raise InvalidData("The private data have no neighbour lists.")
            weights = published_weights(private.neighbours, self.attachment("table"))
        return self.scores(private.features, weights)

    def scores(self, features: Any, weights: NDArray[np.int64] | None) -> NDArray[np.float64]:
        """Score each class by the public function alone.

        Args:
            features: One row a person; None where features are not read.
            weights: The published weights of each person's friends, people x classes, in 255ths
                (:func:`~privet.release.log_shares.published_weights`); None where friends are not read.
        """
        found = self._feature_scores(features) if self.reads_features else None
        if not self.reads_friends or weights is None:
            return self._offsets() if found is None else found
        mixing, shares = self.attachment("mixing"), self.attachment("shares")
        _check_classes(weights, mixing, shares, len(shares))
        found = self._offsets() if found is None else found
        if found.shape[1] not in (1, len(shares)):
            raise InvalidData("The scorer and the published table of a question must know the same classes.")
        return np.asarray(found + mixed(weights, mixing, shares))

    def _feature_scores(self, features: Any) -> NDArray[np.float64]:
        if features is None:
            raise InvalidData("The private data have no features.")
        if callable(self.scorer):
            return row_by_row(self.scorer, features)
        weights = self.attachment("scorer")
        check_scorer(weights, features.shape[1])
        return unit_scores(features, weights) if self.unit_length else linear_scores(features, weights, False)

    def _offsets(self) -> NDArray[np.float64]:
        """Return the offsets of classes where features are not read; 0 for all without a scorer."""
        return np.zeros((1, 1)) if self.scorer is None else self.attachment("scorer")[-1:].astype(np.float64)

    def check(self, private: PrivateData, population: Population) -> None:
        """Demand features and a list that fit the declaration, and public arrays that fit both."""
        if self.reads_features:
            Features().check(private, population)
            if not callable(self.scorer):
                check_scorer(self.attachment("scorer"), population.dimension)
        if self.reads_friends:
            Neighbours().check(private, population)
            table, mixing, shares = (self.attachment(name) for name in ("table", "mixing", "shares"))
            _check_classes(table, mixing, shares, population.classes)
            if len(table) != population.num_nodes:
                expected = f"a row for each of {population.num_nodes} people"
                raise InvalidData("published table of classes", expected, f"{len(table)} rows")
        super().check(private, population)

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values; a scorer that is a function is named as such."""
        found = super().to_dict()
        return {**found, "scorer": "function"} if callable(self.scorer) else found


def _whole(name: str, values: NDArray[Any]) -> NDArray[np.int32]:
    """Return the whole numbers of a small table, all of one type, or equal tables would have different digests."""
    if not np.issubdtype(values.dtype, np.integer):
        raise InvalidParameter(name, "whole numbers", values.dtype)
    if name == "mixing" and (
        values.ndim != 2 or len(set(values.shape)) > 1 or np.abs(values).max(initial=0) > _LARGEST
    ):
        raise InvalidParameter("mixing must be a square matrix of whole numbers from -2^20 to 2^20.")
    if name == "shares" and (values.ndim != 1 or values.min(initial=1) < 1 or values.sum() > LARGEST_SHARES):
        raise InvalidParameter(f"shares must be whole numbers of at least 1, with a sum of at most {LARGEST_SHARES}.")
    return values.astype(np.int32)


def _check_classes(table: NDArray[Any], mixing: NDArray[Any], shares: NDArray[Any], classes: int) -> None:
    if not table.shape[1] == len(mixing) == len(shares) == classes:
        raise InvalidData(
            f"The published table, mixing and shares must be about the same classes, {classes} of them; they have "
            f"{table.shape[1]}, {len(mixing)} and {len(shares)}."
        )
