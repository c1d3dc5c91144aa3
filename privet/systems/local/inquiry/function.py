"""The public function of everything on a device, which Inquiry's person question asks about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidData
from privet.estimation.answers.answer_models import AnswerModel, SeenScores
from privet.estimation.answers.confusions import Confusions
from privet.estimation.answers.person_function import (
    PersonFunction,
    fit_person_function,
    friends_alone,
    with_given_scorer,
    with_unseen_friends,
)
from privet.release.asks.person import in_255ths
from privet.release.log_shares import FIXED_POINT, LARGEST_SHARES, log_shares, published_weights
from privet.systems.collected import Collected
from privet.systems.local.inquiry.learning import InquiryLearning, given_scorer

__all__ = ["InquiryFunction", "one_hot"]

_GUESS = 0.8  # the accuracy of answers that offers assume where nobody shows anything


@dataclass(frozen=True, kw_only=True)
class InquiryFunction(InquiryLearning):
    """The function's weights: from a panel, given, or fixed where only friends are read."""

    def _function(self, collected: Collected) -> PersonFunction:
        """Return the function of all waves, which is fitted once."""
        return cast(PersonFunction, collected.once("function", lambda: self._new_function(collected)))

    def _new_function(self, collected: Collected) -> PersonFunction:
        classes, whole = collected.schema.classes, self._whole_shares(collected)
        if self.reads == "friends":
            return friends_alone(whole / whole.sum())
        if self.scorer is not None:
            if not callable(self.scorer):
                given_scorer(self.scorer, collected.release.population)  # which checks it
            return with_given_scorer(self.scorer, classes, self.reads == "everything")
        shown, told = collected.shown, None
        if shown is None:
            raise InvalidData("The person question waits for the panel, who show features and friends.")
        if self.reads == "everything" and shown.lists is not None:
            table = in_255ths(one_hot(collected.seen_labels(), classes))
            told = log_shares(published_weights(shown.lists, table), whole) / FIXED_POINT
        labels = collected.seen_labels()[shown.users]
        found = fit_person_function(shown.features, told, labels, whole / whole.sum(), seed=self.seed or 0)
        return with_unseen_friends(found, classes) if self.reads == "everything" and told is None else found

    def _person_model(self, collected: Collected) -> AnswerModel:
        """Return what is known of true answers before anybody is asked."""
        function = self._function(collected)
        if function.scores is not None and function.labels is not None:
            return SeenScores(function.scores, function.labels, collected.schema.classes)
        return Confusions.usual(_GUESS, self._class_shares(collected))

    def _whole_shares(self, collected: Collected) -> NDArray[np.int32]:
        """Return whole numbers in proportion to the class shares, as the first wave had them."""

        def compute() -> NDArray[np.int32]:
            shares = self._class_shares(collected)
            return np.maximum(np.floor(shares * (LARGEST_SHARES - len(shares))), 1).astype(np.int32)

        return cast(NDArray[np.int32], collected.once("shares", compute))


def one_hot(labels: NDArray[np.int64], classes: int) -> NDArray[np.float64]:
    """Return a row for each label, of zeros where there is none.

    Args:
        labels: Classes, -1 where there is none.
        classes: The number of classes.
    """
    rows = np.zeros((len(labels), classes))
    known = np.flatnonzero(labels >= 0)
    rows[known, labels[known]] = 1.0
    return rows
