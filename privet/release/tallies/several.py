"""How many people said yes to each of several questions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.errors import InvalidParameter
from privet.privacy import Unit
from privet.release.private import PrivateData
from privet.release.tallies._base import Tally, features_of

__all__ = ["Several"]


@dataclass(frozen=True)
class Several(Tally):
    """Count the people whose feature is 1, for each of several yes/no features, such as words.

    Each person contributes at most ``ones`` ones, so an exchange moves the sum by at most the square root of twice
    that, or of the number of features if that is less. Who has more ones keeps the first.

    Attributes:
        features: The number of features; all of the schema are counted.
        ones: The most ones of a person.
    """

    features: int
    ones: int

    name = "several"
    unit = Unit.FEATURES
    part = "counts of yes answers"
    subject = "your answers"

    def __post_init__(self) -> None:
        if not 1 <= self.ones <= self.features:
            raise InvalidParameter("ones", f"from 1 to the number of features, {self.features}", self.ones)

    @property
    def circuit(self) -> tuple[str, Mapping[str, int]]:
        return "Prio3MultihotCountVec", {"length": self.features, "max_weight": self.ones}

    @property
    def width(self) -> int:
        return self.features

    @property
    def change(self) -> float:
        return math.sqrt(min(2 * self.ones, self.features))

    @property
    def most(self) -> int:
        return 1

    def measure(self, private: PrivateData) -> NDArray[np.int64]:
        given = features_of(private)
        values = np.asarray(given.todense() if sp.issparse(given) else given)
        yes = (np.nan_to_num(values) > 0.5).astype(np.int64)
        return np.asarray(np.where(np.cumsum(yes, axis=1) <= self.ones, yes, 0))

    def contributions(self, measurements: NDArray[np.int64]) -> NDArray[np.int64]:
        return measurements
