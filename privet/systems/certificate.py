"""A certificate: how many lies each prediction of a model withstands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidData

__all__ = ["CURVE", "Certificate"]

CURVE = (1, 2, 3, 5, 10)
"""The numbers of lies that reports and facts are about."""

_FALSE_ENTRIES = (
    "Counted are false entries of the published tables; one liar can cause several of them, because a table of "
    "predicted classes is made from other people's counts."
)


@dataclass(frozen=True, eq=False)
class Certificate:
    """The number of lies that each prediction withstands, for the model as it is published.

    Held fixed are everything that all people share (the prior, the weights, the model of answers, the mixing of
    classes) and, unless ``own_lie`` is read, the person's own answer.

    A lie is one of two things. Where friends answer for each other (``each`` is "liar") it is a lying friend. Where a
    device counts friends over published classes (``each`` is "false class") it is one false entry of such a table;
    a table of predicted classes is made from other people's counts, so one liar can make several entries false.

    Attributes:
        liars: The largest number of lies about a person's friends that cannot turn the prediction, whatever they are;
            inf if all of them together cannot, NaN where no prediction was made.
        own_lie: True if a false answer of the person alone could turn the prediction.
        lies: The lies that are counted, in words.
        each: One of them: "liar" (default) or "false class".
        most: The largest number that was looked for: a prediction that withstands it may withstand more. None if the
            numbers are exact.
    """

    liars: NDArray[np.float32]
    own_lie: NDArray[np.bool_]
    lies: str
    most: int | None = None
    each: str = "liar"

    def __repr__(self) -> str:
        told = ", ".join(f"{self.share(k):.0%} withstand {k}" for k in CURVE[:3])
        return f"Certificate({self.lies}: {told})"

    def withstands(self, liars: int) -> NDArray[np.bool_]:
        """Tell whose prediction stands, whatever so many friends say."""
        if liars < 0 or (self.most is not None and liars > self.most):
            expected = "0 or more" if self.most is None else f"from 0 to {self.most}, which was looked for"
            raise InvalidData("number of liars", expected, liars)
        return np.asarray(self.liars >= liars)

    def share(self, liars: int) -> float:
        """Return the share of predictions that stand against so many liars."""
        made = ~np.isnan(self.liars)
        return float(self.withstands(liars)[made].mean()) if made.any() else 0.0

    def accuracy(
        self, predicted: NDArray[np.int64], labels: NDArray[np.int64], nodes: NDArray[np.bool_], liars: int
    ) -> float:
        """Return the share of some nodes whose prediction is right and stands, for an evaluator who knows the labels.

        Args:
            predicted: The predicted classes.
            labels: The true classes, -1 where there is none.
            nodes: The nodes to look at.
            liars: The number of liars among each person's friends.
        """
        chosen = nodes & (labels >= 0)
        return float(((predicted == labels) & self.withstands(liars))[chosen].mean())

    def counted(self, number: int) -> str:
        """Say so many lies, for example "2 liars" or "1 false class"."""
        plural = "" if number == 1 else "es" if self.each.endswith("s") else "s"
        return f"{number} {self.each}{plural}"

    @property
    def column(self) -> str:
        """The name of the column with the numbers, for example ``certified_liars``."""
        return "certified_" + self.counted(2).removeprefix("2 ").replace(" ", "_")

    def numbers(self, most: int = CURVE[-1]) -> Sequence[int]:
        """Return the numbers of liars of a curve."""
        return range(1, (most if self.most is None else min(most, self.most)) + 1)

    def facts(self) -> dict[str, float]:
        """Return ``withstands_1``, ``withstands_2``, ... and ``own_lie``: shares of all predictions."""
        made = ~np.isnan(self.liars)
        shares = {f"withstands_{k}": self.share(k) for k in self.numbers()}
        return shares | {"own_lie": float(self.own_lie[made].mean()) if made.any() else 0.0}

    def in_words(self) -> str:
        """Say what is certified, and what is not."""
        told = ", ".join(f"{self.share(k):.1%} against {k}" for k in CURVE if k in self.numbers())
        unit = "" if self.each == "liar" else f" {_FALSE_ENTRIES}"
        bound = "" if self.most is None else f" Numbers above {self.most} were not looked for."
        own = self.facts()["own_lie"]
        return (
            f"Predictions that stand whatever some of a person's friends do ({self.lies}): {told}.{bound}{unit} This "
            "holds for the published model: its prior, weights and model of answers are held fixed, so what liars did "
            f"to those is outside. A person's own lie could turn {own:.1%} of the predictions."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what is not an array, for JSON."""
        return {"lies": self.lies, "most": self.most, "each": self.each}
