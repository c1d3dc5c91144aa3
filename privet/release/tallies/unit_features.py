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
        return np.asarray(self._integers(private).toarray() + self._zero)

    def total(self, private: PrivateData) -> NDArray[np.int64]:
        integers = self._integers(private)
        return np.asarray(integers.sum(axis=0) + integers.shape[0] * self._zero, dtype=np.int64).ravel()

    @property
    def _zero(self) -> int:
        """The measurement that stands for 0."""
        return self.steps if self.negative else 0

    def _integers(self, private: PrivateData) -> sp.csr_array:
        """Return vectors of length 1 in steps, rounded towards 0."""
        rows = sp.csr_array(features_of(private), dtype=np.float64, copy=True)
        rows.sum_duplicates()
        rows.data = np.nan_to_num(rows.data)
        if not self.negative:
            rows.data = np.maximum(rows.data, 0.0)
        counts = np.diff(rows.indptr)
        largest = abs(rows).max(axis=1).toarray().ravel()  # divided by first, so that squares are finite
        rows.data /= np.repeat(np.where(largest > 0, largest, 1.0), counts)
        norms = np.sqrt((rows**2).sum(axis=1))
        rows.data *= np.repeat(self.steps * _SHRUNK / np.where(norms > 0, norms, 1.0), counts)
        integers = sp.csr_array((np.trunc(rows.data).astype(np.int64), rows.indices, rows.indptr), shape=rows.shape)
        if ((integers**2).sum(axis=1) > self.steps**2).any():
            raise AssertionError("a vector is longer than its length")
        return integers

    def contributions(self, measurements: NDArray[np.int64]) -> NDArray[np.int64]:
        return measurements

    def estimate(self, sums: NDArray[np.float64], people: int) -> NDArray[np.float64]:
        """Return the sum of vectors of length 1."""
        return (sums - (people * self.steps if self.negative else 0)) / self.steps
