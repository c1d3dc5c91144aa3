"""Writes vectors.json: reports that Python and the browser must both make from the same random words.

Run ``python tests/collection/make_vectors.py`` after a deliberate change of a mechanism or of the wire form. A vector
is a manifest, one participant's raw answers, a stream of 64-bit words, and the body and the number of words that a
device must end with.
"""

from __future__ import annotations

import json
import math
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from simulated_studies import asked

from privet.collection.study.manifest import Study
from privet.data import Categories, Interval, Schema, Several
from privet.errors import OutOfRangeWarning
from privet.mechanisms import AdjacencyResponse
from privet.mechanisms.primitives.bits import Bits
from privet.release import PrivateData

VECTORS = Path(__file__).with_name("vectors.json")
LARGEST_WORD = (1 << 64) - 1


class ReplayedBits(Bits):
    """Given words, one after another."""

    def __init__(self, words: list[int]) -> None:
        self._stream, self.used = words, 0

    def words(self, count: int) -> NDArray[np.uint64]:
        taken = self._stream[self.used : self.used + count]
        if len(taken) < count:
            raise IndexError("the replayed words are used up")
        self.used += count
        return np.array(taken, dtype=np.uint64)


def report(study: Study, raw: dict[str, Any], bits: Bits) -> bytes:
    """Return the body that a device sends: features, label and neighbours are perturbed in this order."""
    label, neighbours = raw.get("label"), raw.get("neighbours", [])
    private = PrivateData.one(raw["node"], study.nodes, raw["features"], label, neighbours)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutOfRangeWarning)
        answers = study.release.perturb(private, bits)
    return study.release.wire.pack(answers)[0]


def make_study(
    schema: Schema, features: dict[str, Any], labels: Any = None, neighbours: Any = None, **rest: Any
) -> Study:
    """Declare a study whose texts do not matter."""
    texts = {"title": "Vectors", "purpose": "Déjà vu.", "operator": "privet developers", "eligible": "Nobody."}
    times = {"opens": "2026-01-01T00:00:00Z", "closes": "2026-02-01T00:00:00Z"}
    release = asked({name: value for name, value in features.items() if value is not None}, labels, neighbours)
    return Study(**{"nodes": 50, "schema": schema, "release": release, **texts, **times, **rest})


def vectors() -> list[dict[str, Any]]:
    """All of them; every call makes the same."""
    return [_vector(random.Random(number), *case) for number, case in enumerate(_cases())]


def with_plain_values(made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the JSON form that Python gives each body, for another implementation to be compared with."""
    forms = (Study.from_bytes(vector["manifest"].encode()).release.wire for vector in made)
    plain = (form.to_json(bytes.fromhex(vector["body"])) for form, vector in zip(forms, made, strict=True))
    return [
        {**vector, "json": json.dumps(each, separators=(",", ":"))} for vector, each in zip(made, plain, strict=True)
    ]


def _vector(chance: random.Random, study: Study, raw: dict[str, Any], first: list[int]) -> dict[str, Any]:
    words = [*first, *(_word(chance) for _ in range(20_000))]
    bits = ReplayedBits(words)
    body = report(study, raw, bits)
    stream = "".join(f"{word:016x}" for word in words[: bits.used])
    manifest = study.canonical().decode()
    return {"manifest": manifest, "id": study.id, "raw": raw, "words": stream, "used": bits.used, "body": body.hex()}


def _word(chance: random.Random) -> int:
    """A uniform word; every sixth is an extreme one, of which 0 is refused by almost every bound."""
    if chance.random() < 1 / 6:
        return chance.choice([0, 0, 1, LARGEST_WORD, LARGEST_WORD - 1, 1 << 63, (1 << 53) - 1])
    return chance.getrandbits(64)


def _cases() -> Iterator[tuple[Study, dict[str, Any], list[int]]]:
    yield from _named_cases()
    yield from _numeric_cases()
    yield from _categorical_cases()
    yield from _label_cases()
    yield from _list_cases()
    yield from _mixed_cases()


def _named_cases() -> Iterator[tuple[Study, dict[str, Any], list[int]]]:
    schema = Schema(
        (Categories(2, ("no", "yes")), Interval(0.0, 1.0), Categories(3)), 3, class_names=("Bär", "b c", "日")
    )
    study = make_study(schema, {"mechanism": "piecewise", "epsilon": 1.0}, labels={"epsilon": 1.0})
    yield study, {"node": 7, "features": [1, 0.25, 2], "label": 2}, []


def _numeric_cases() -> Iterator[tuple[Study, dict[str, Any], list[int]]]:
    chance = random.Random(7)
    ranges = [(0.0, 1.0), (-1.0, 1.0), (0.1, 0.3), (-1e6, 2.5e7), (17.0, 17.125)]
    for mechanism in ("multi-bit", "hds", "piecewise", "laplace"):
        for epsilon in (0.01, 0.1, 0.5, 1.0, 1 / 3, 2.0, 3.7, 8.0):
            for dimension, sample in ((1, None), (5, None), (5, 2), (5, 3), (12, 12), (40, 7)):
                domains = [ranges[(i + dimension) % len(ranges)] for i in range(dimension)]
                schema = Schema(tuple(Interval(low, high) for low, high in domains))
                budget = {"mechanism": mechanism, "epsilon": epsilon, "sample": sample}
                values = [_value(chance, low, high) for low, high in domains]
                refused = [0] if dimension == 1 else []
                yield make_study(schema, budget), {"node": 3, "features": values}, refused
    mixed = Schema((Categories(7), Interval(-2.0, 2.0), Categories(2)))
    budget = {"mechanism": "hds", "epsilon": 2.0, "sample": 3}
    yield make_study(mixed, budget), {"node": 0, "features": [6, 0.25, 1]}, []


def _mixed_cases() -> Iterator[tuple[Study, dict[str, Any], list[int]]]:
    chance = random.Random(17)
    schema = Schema(
        (
            Categories(3, ("a", "b", "c"), skip=True),
            Interval(0.0, 60.0, skip=True, needs=(0, (0, 2))),
            Several(5, skip=True),
            Interval(-1.0, 1.0),
            Categories(2, needs=(0, (1,))),
            Several(3),
        )
    )
    for epsilon in (0.01, 1 / 3, 1.0, 3.7, 8.0):
        for sample in (None, 1, 2, 4, 6):
            budget = {"mechanism": "mixed-response", "epsilon": epsilon, "sample": sample}
            for _ in range(3):
                values = [chance.choice([0, 1, 2, 3]), chance.choice([0.0, 60.0, 61, 62, 60 * chance.random()])]
                values += [chance.randrange(33), chance.uniform(-1.5, 1.5), chance.randrange(3), chance.randrange(8)]
                yield make_study(schema, budget), {"node": 3, "features": values}, []
    whole = Schema((Interval(0.0, 1.0, skip=True),))
    for value in (0.0, 0.25, 1.0, 2.0):
        yield make_study(whole, {"mechanism": "mixed-response", "epsilon": 1.0}), {"node": 3, "features": [value]}, [0]


def _value(chance: random.Random, low: float, high: float) -> float:
    inside = low + chance.random() * (high - low)
    outside = chance.choice([low - 3.0, high + 1e-9, high + 1e9, math.nextafter(low, -math.inf)])
    return chance.choice([inside, inside, inside, low, high, (low + high) / 2, outside])


def _categorical_cases() -> Iterator[tuple[Study, dict[str, Any], list[int]]]:
    chance = random.Random(11)
    for epsilon in (0.01, 0.3, 1.0, 2.0, 8.0):
        for counts, sample in (((2,), None), ((2, 3, 5), 2), ((4,) * 9, 3), ((2, 200) * 4, 7), ((40_000, 2), 1)):
            schema = Schema.categorical(counts)
            budget = {"mechanism": "sampled-response", "epsilon": epsilon, "sample": sample}
            values = [chance.choice([chance.randrange(count), 0, count - 1, count + 4, -1]) for count in counts]
            yield make_study(schema, budget), {"node": 1, "features": values}, []


def _label_cases() -> Iterator[tuple[Study, dict[str, Any], list[int]]]:
    features = {"mechanism": "multi-bit", "epsilon": 1.0}
    for epsilon in (0.01, 0.5, 1.0, 4.0, 8.0):
        for classes, label in ((2, 0), (2, 1), (7, 6), (129, 64), (40_000, 39_999)):
            schema = Schema.numeric(3, low=0.0, high=1.0, classes=classes)
            study = make_study(schema, features, labels={"epsilon": epsilon})
            yield study, {"node": 2, "features": [0.0, 0.5, 1.0], "label": label}, []


def _list_cases() -> Iterator[tuple[Study, dict[str, Any], list[int]]]:
    features = {"mechanism": "multi-bit", "epsilon": 1.0, "sample": 1}
    schema = Schema.numeric(1, low=0.0, high=1.0, classes=2, private_edges=True)
    for epsilon in (0.01, 0.5, 1.0, 3.0, 5.0, 8.0):
        for nodes, node, one_sided in ((2, 1, True), (30, 0, False), (30, 17, True), (400, 399, True), (400, 5, False)):
            neighbours = sorted({0, nodes // 3, nodes // 2, nodes - 1} - {node})
            budget = {"epsilon": epsilon, "one_sided": one_sided}
            study = make_study(schema, features, nodes=nodes, neighbours=budget, labels={"epsilon": 2.0})
            yield study, {"node": node, "features": [0.75], "label": 1, "neighbours": neighbours}, []
            yield study, {"node": node, "features": [0.75], "label": 1, "neighbours": []}, _doubtful_words(study)


def _doubtful_words(study: Study) -> list[int]:
    """Words whose first 53 bits leave two gaps possible, so that more bits must be drawn."""
    mechanism = study.release.question("neighbours").mechanism
    assert isinstance(mechanism, AdjacencyResponse)
    keep = 1 - mechanism.odds.low / mechanism.odds.total
    at_the_edge = [math.floor(keep**gap * (1 << 53)) for gap in (1, 2, 5, 9, 20)]
    # The first two words are the feature's and the label's; a draw of 53 bits is the word modulo 2^53.
    return [1 << 40, 1 << 50, *at_the_edge, 0, (1 << 53) - 1]


if __name__ == "__main__":
    made = vectors()
    VECTORS.write_text("[\n" + ",\n".join(json.dumps(vector, sort_keys=True) for vector in made) + "\n]\n")
    print(f"{len(made)} vectors, {VECTORS.stat().st_size:,} bytes")
