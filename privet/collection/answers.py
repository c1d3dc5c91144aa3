"""What one participant sends, as bytes: the symbols of its reports, one after another, and nothing else.

The manifest fixes every length, so a body needs no header (little-endian throughout):

    coordinates   int32 x m    which features were sampled; absent if all of them are reported
    symbols       intB  x m    one symbol a feature, of the mechanism's own width B
    label         intB         one symbol, if the study asks for labels
    neighbours    int32 x k    the reported neighbours, ascending, to the end of the body, if the study asks for them

Equal answers have equal bytes. What is sent, stored and exported is this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.collection.study import Study
from privet.errors import InvalidReports
from privet.mechanisms import NeighbourReports, Reports, SampledResponse

__all__ = ["AnswerFormat", "Answers"]


@dataclass(frozen=True, eq=False)
class Answers:
    """The reports of some nodes, row i from ``nodes[i]``: all that a server knows of them."""

    nodes: NDArray[np.int64]
    features: Reports
    labels: Reports | None = None
    neighbours: NeighbourReports | None = None

    def __len__(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True)
class AnswerFormat:
    """The bytes of a study's answers: ``pack`` on a device, ``unpack`` (which validates) on the server."""

    study: Study

    @cached_property
    def record(self) -> np.dtype[np.void]:
        """The part of a body whose length is fixed."""
        features = self.study.feature_mechanism
        sampled = features.sample if isinstance(features, SampledResponse) else features.sampled
        fields: list[Any] = [("symbols", features.symbol_dtype.newbyteorder("<"), (sampled,))]
        if sampled < features.dimension:
            fields.insert(0, ("coordinates", "<i4", (sampled,)))
        if self.study.label_mechanism is not None:
            fields.append(("label", self.study.label_mechanism.symbol_dtype.newbyteorder("<"), (1,)))
        return np.dtype(fields)

    @property
    def longest(self) -> int:
        """The most bytes that a body can have."""
        lists = 0 if self.study.neighbours is None else 4 * (self.study.nodes - 1)
        return self.record.itemsize + lists

    def pack(self, answers: Answers) -> list[bytes]:
        """One body a row."""
        records = np.zeros(len(answers), dtype=self.record)
        records["symbols"] = answers.features.symbols
        if answers.features.indices is not None:
            records["coordinates"] = answers.features.indices
        if answers.labels is not None:
            records["label"] = answers.labels.symbols
        bodies = [record.tobytes() for record in records]
        if answers.neighbours is None:
            return bodies
        starts, listed = answers.neighbours.indptr, answers.neighbours.indices.astype("<i4")
        return [body + listed[starts[row] : starts[row + 1]].tobytes() for row, body in enumerate(bodies)]

    def unpack(self, nodes: Sequence[int] | NDArray[np.int64], bodies: Sequence[bytes]) -> Answers:
        """The answers, if a device that follows the manifest could have sent every one of them."""
        ids = np.asarray(nodes, dtype=np.int64)
        outside = (ids < 0) | (ids >= self.study.nodes)
        if outside.any():
            found = f"{ids[np.argmax(outside)]} in row {int(np.argmax(outside))}"
            raise InvalidReports("reporting nodes", f"ids below {self.study.nodes}", found)
        lengths = np.fromiter(map(len, bodies), dtype=np.int64, count=len(bodies))
        tails = lengths - self.record.itemsize
        lists = self.study.neighbours is not None
        wrong = ((tails < 0) | (tails % 4 != 0)) if lists else tails != 0
        if wrong.any():
            more = " and a multiple of 4 more" if lists else ""
            found = f"{lengths[np.argmax(wrong)]} in row {int(np.argmax(wrong))}"
            raise InvalidReports("report", f"{self.record.itemsize} bytes long{more}", found)
        fixed = bodies if not lists else [body[: self.record.itemsize] for body in bodies]
        records = np.frombuffer(b"".join(fixed), dtype=self.record)
        named = "coordinates" in (self.record.names or ())
        coordinates = records["coordinates"].astype(np.int32) if named else None
        features = Reports(self.study.declared.dimension, _native(records["symbols"]), coordinates)
        self.study.feature_mechanism.validate(features)
        labels = None
        if self.study.label_mechanism is not None:
            labels = self.study.label_mechanism.validate(Reports(1, _native(records["label"])))
        neighbours = None
        if self.study.neighbour_mechanism is not None:
            listed = np.frombuffer(b"".join(body[self.record.itemsize :] for body in bodies), dtype="<i4")
            starts = np.concatenate([[0], np.cumsum(tails // 4)])
            neighbours = NeighbourReports(self.study.nodes, starts, listed.astype(np.int32), ids)
            self.study.neighbour_mechanism.validate(neighbours)
        return Answers(ids, features, labels, neighbours)

    def to_json(self, body: bytes) -> dict[str, Any]:
        """A body as plain values: what a person can read and the JSON form of a submission."""
        record = np.frombuffer(body[: self.record.itemsize], dtype=self.record)[0]
        document: dict[str, Any] = {"symbols": record["symbols"].tolist()}
        if "coordinates" in (self.record.names or ()):
            document["coordinates"] = record["coordinates"].tolist()
        if self.study.labels is not None:
            document["label"] = int(record["label"][0])
        if self.study.neighbours is not None:
            document["neighbours"] = np.frombuffer(body[self.record.itemsize :], dtype="<i4").tolist()
        return document

    def from_json(self, document: Any) -> bytes:
        """The body that a JSON form stands for; symbols are checked by :meth:`unpack`, their size here."""
        names = {name: name for name in self.record.names or ()}
        if self.study.neighbours is not None:
            names["neighbours"] = "neighbours"
        if not isinstance(document, dict) or set(document) != set(names):
            found = sorted(map(str, document)) if isinstance(document, dict) else type(document).__name__
            raise InvalidReports("report", f"an object with the keys {', '.join(sorted(names))}", found)
        parts = []
        for name in self.record.names or ():
            field = self.record[name]
            given = [document[name]] if name == "label" else document[name]
            parts.append(_integers(given, name, field.base, field.shape[0]))
        if self.study.neighbours is not None:
            parts.append(_integers(document["neighbours"], "neighbours", np.dtype("<i4"), None))
        return b"".join(parts)


def _integers(values: Any, name: str, kind: np.dtype[Any], count: int | None) -> bytes:
    if not isinstance(values, list) or not all(type(value) is int for value in values):
        raise InvalidReports(f"report's {name}", "integers", values)
    if count is not None and len(values) != count:
        raise InvalidReports(f"report's {name}", f"{count} integers", len(values))
    limits = np.iinfo(kind)
    if values and not limits.min <= min(values) <= max(values) <= limits.max:
        raise InvalidReports(f"report's {name}", f"integers of {8 * kind.itemsize} bits", "a larger one")
    return np.array(values, dtype=kind).tobytes()


def _native(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(array.dtype.newbyteorder("="))
