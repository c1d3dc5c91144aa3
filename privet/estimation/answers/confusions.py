"""True answers of people of each class, learned from randomised answers of people whose class is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.estimation.answers.answer_models import AnswerModel, KnownAccuracy, groups_of_offers
from privet.mechanisms import OfferedResponse

__all__ = ["Confusions"]

Array = NDArray[np.float64]

_STRENGTH = 10.0  # the weight of the usual answers of a class, in people
_ITERATIONS = 50


@dataclass(frozen=True, eq=False)
class Confusions(AnswerModel):
    """The answer of people of each class, of all classes; of fewer offered ones they choose in the same proportions.

    Attributes:
        choices: P(answer | class) if every class is offered, classes x classes.
    """

    choices: Array

    @property
    def classes(self) -> int:  # type: ignore[override]
        """The number of classes."""
        return len(self.choices)

    def confusion(self, offered: tuple[int, ...]) -> Array:
        """Return the shares of the offered answers."""
        found = self.choices[:, list(offered)]
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    @classmethod
    def usual(cls, accuracy: float, shares: Array) -> Confusions:
        """Return answers that are right with one probability, and elsewhere any other class by its share.

        Args:
            accuracy: The probability of the right answer.
            shares: The shares of the classes.
        """
        others = np.tile(shares, (len(shares), 1)) * (1 - np.eye(len(shares)))
        return cls(accuracy * np.eye(len(shares)) + (1 - accuracy) * others / others.sum(axis=1, keepdims=True))

    @classmethod
    def estimated(
        cls,
        offers: NDArray[np.integer[Any]],
        positions: NDArray[np.integer[Any]],
        heard: Array,
        mechanism: OfferedResponse,
        before: AnswerModel | None = None,
    ) -> Confusions:
        """Estimate the answers by expectation maximisation, from what was assumed before.

        Args:
            offers: What people of known class were offered.
            positions: The place of each randomised answer among the reports.
            heard: The probability of what is known about each person given each class; one-hot for known classes.
            mechanism: The randomiser.
            before: The answers as they were assumed before anybody answered (default: right with one probability,
                which is estimated).
        """
        classes = heard.shape[1]
        if before is None:
            before = KnownAccuracy.estimated(offers, positions, heard, mechanism)
        first = np.maximum(before.confusion(tuple(range(classes))), 1e-6)
        choices = first = first / first.sum(axis=1, keepdims=True)
        groups = [(np.array(each), rows) for each, rows in groups_of_offers(offers)]
        for _ in range(_ITERATIONS if len(offers) else 0):
            chosen, could = _STRENGTH * first, np.full_like(first, _STRENGTH)
            for offered, rows in groups:
                part = choices[:, offered].sum(axis=1, keepdims=True)
                said = mechanism.channel(len(offered)).T[positions[rows]]
                joint = heard[rows][:, :, None] * (choices[:, offered] / part) * said[:, None, :]
                joint /= joint.sum(axis=(1, 2), keepdims=True)
                chosen[:, offered] += joint.sum(axis=0)
                could[:, offered] += joint.sum(axis=(0, 2))[:, None] / part
            updated = chosen / could
            updated /= updated.sum(axis=1, keepdims=True)
            moved, choices = np.abs(updated - choices).max(), updated
            if moved < 1e-4:
                break
        return cls(choices)
