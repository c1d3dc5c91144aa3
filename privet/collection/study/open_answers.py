"""What a member of a panel sends: features and class as they are, and nothing is protected.

The body is the features as float64 and the class as int32, little-endian. People who show their data agreed to it, and
are asked nothing else about their features; a system may learn from them what to ask others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet.data import Categories, Schema
from privet.errors import InvalidReports

__all__ = ["OpenData", "OpenForm"]


@dataclass(frozen=True, eq=False)
class OpenData:
    """The features and classes that some people show.

    Attributes:
        users: Their ids, ascending.
        features: One row for each of them.
        labels: Their classes.
    """

    users: NDArray[np.int64]
    features: NDArray[np.float64]
    labels: NDArray[np.int64]


@dataclass(frozen=True)
class OpenForm:
    """The bytes of one person's open answers.

    Attributes:
        schema: The declared domains, which the answers must lie in.
    """

    schema: Schema

    @property
    def record(self) -> np.dtype[np.void]:
        """The fields of a body."""
        return np.dtype([("features", "<f8", (self.schema.dimension,)), ("label", "<i4")])

    def pack(self, features: Sequence[float], label: int) -> bytes:
        """Return the body of one person's answers; values outside their domains are refused."""
        record = np.zeros(1, dtype=self.record)
        record["features"], record["label"] = np.asarray(features, dtype=np.float64), label
        self.unpack([0], [record.tobytes()])
        return record.tobytes()

    def unpack(self, users: Sequence[int], bodies: Sequence[bytes]) -> OpenData:
        """Read bodies, if everything in them lies in its declared domain."""
        size = self.record.itemsize
        odd = next((len(body) for body in bodies if len(body) != size), None)
        if odd is not None:
            raise InvalidReports("open answers", f"{size} bytes long", odd)
        records = np.frombuffer(b"".join(bodies), dtype=self.record)
        features, labels = records["features"].astype(np.float64), records["label"].astype(np.int64)
        inside = (features >= self.schema.low) & (features <= self.schema.high)
        codes = np.array([isinstance(domain, Categories) for domain in self.schema.features], dtype=np.bool_)
        whole = inside & (~codes | (features == np.floor(features)))
        if not whole.all():
            row, column = np.argwhere(~whole)[0]
            raise InvalidReports(
                "open answers", f"in the declared domains, also feature {column}", features[row, column]
            )
        if len(labels) and not 0 <= labels.min() <= labels.max() < self.schema.classes:
            raise InvalidReports(f"Somebody shows a class that is not one of 0 to {self.schema.classes - 1}.")
        return OpenData(np.asarray(users, dtype=np.int64), features, labels)
