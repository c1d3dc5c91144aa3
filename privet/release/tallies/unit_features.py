"""The sum of people's feature vectors, each at length 1."""

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

__all__ = ["UnitFeatures"]

_SHRUNK = 1 - 2.0**-20  # rounding must not lift a vector above its length


@dataclass(frozen=True)
class UnitFeatures(Tally):
    """Add up feature vectors that the device scales to length 1 and rounds towards 0, in steps of 1 / (2^bits - 1).

    Two vectors of length 1 are at most 2 apart, and the square root of 2 if no entry of either is negative: their inner
    product is then at least 0. Where features are declared non-negative, the device takes a negative one for 0.

    Attributes:
        features: The number of features.
        negative: True if features may be negative; then half of an entry's range stands for each sign.
        bits: The precision of an entry, 1 to 24 bits.
    """

    features: int
    negative: bool
    bits: int = 8

    name = "unit-features"
    unit = Unit.FEATURES
    part = "sums of features"
    subject = "your features, at length 1"

    def __post_init__(self) -> None:
        if self.features < 1:
            raise InvalidParameter("features", "at least 1", self.features)
        if not 1 <= self.bits <= 24:
            raise InvalidParameter("bits", "from 1 to 24", self.bits)

    @property
    def steps(self) -> int:
        """The length of a vector of length 1, in steps."""
        return (1 << self.bits) - 1

    @property
    def circuit(self) -> tuple[str, Mapping[str, int]]:
        return "Prio3SumVec", {"length": self.features, "max_measurement": self.most}

    @property
    def width(self) -> int:
        return self.features

    @property
    def change(self) -> float:
        return self.steps * (2.0 if self.negative else math.sqrt(2))

    @property
    def lie(self) -> float:
        return self.steps * (math.sqrt(self.features) + (1 if self.negative else 0))

    @property
    def most(self) -> int:
        return 2 * self.steps if self.negative else self.steps

    def measure(self, private: PrivateData) -> NDArray[np.int64]:
        given = features_of(private)
        rows = np.nan_to_num(np.asarray(given.todense() if sp.issparse(given) else given, dtype=np.float64))
        rows = rows if self.negative else np.maximum(rows, 0.0)
        largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
        rows = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)  # so that squares are finite
        norms = np.sqrt((rows**2).sum(axis=1, keepdims=True))
        scaled = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
        integers = np.trunc(scaled * (self.steps * _SHRUNK)).astype(np.int64)
        if ((integers**2).sum(axis=1) > self.steps**2).any():
            raise AssertionError("a vector is longer than its length")
        return np.asarray(integers + (self.steps if self.negative else 0))

    def contributions(self, measurements: NDArray[np.int64]) -> NDArray[np.int64]:
        return measurements

    def estimate(self, sums: NDArray[np.float64], people: int) -> NDArray[np.float64]:
        """Return the sum of vectors of length 1."""
        return (sums - (people * self.steps if self.negative else 0)) / self.steps
