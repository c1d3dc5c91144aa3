"""How many people gave each answer to a question of choice."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.errors import InvalidData, InvalidParameter
from privet.privacy import Unit
from privet.release.private import PrivateData
from privet.release.tallies._base import Tally, features_of

__all__ = ["Categories"]


@dataclass(frozen=True)
class Categories(Tally):
    """Count people by the category of one feature.

    An exchange moves one person from one count to another: a distance of the square root of 2.

    Attributes:
        feature: The feature's place in the schema.
        categories: Its number of categories; a value outside counts for the nearest.
    """

    feature: int
    categories: int

    name = "categories"
    unit = Unit.FEATURES
    part = "counts of categories"
    subject = "your answer"

    def __post_init__(self) -> None:
        if self.categories < 2:
            raise InvalidParameter("categories", "at least 2", self.categories)

    @property
    def circuit(self) -> tuple[str, Mapping[str, int]]:
        return "Prio3Histogram", {"length": self.categories}

    @property
    def width(self) -> int:
        return self.categories

    @property
    def change(self) -> float:
        return math.sqrt(2)

    @property
    def most(self) -> int:
        return 1

    def measure(self, private: PrivateData) -> NDArray[np.int64]:
        column = features_of(private)[:, [self.feature]]
        values = np.asarray(column.todense() if sp.issparse(column) else column, dtype=np.float64).ravel()
        if np.isnan(values).any():
            raise InvalidData("Somebody has not answered this question. Sum over those who have.")
        return np.clip(np.rint(values), 0, self.categories - 1).astype(np.int64)

    def contributions(self, measurements: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.asarray(measurements[:, None] == np.arange(self.categories), dtype=np.int64)
