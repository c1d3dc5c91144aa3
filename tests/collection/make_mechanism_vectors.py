"""Writes mechanism_vectors.json: symbols that Python and the browser must both draw from the same random words.

Run ``python tests/collection/make_mechanism_vectors.py`` after a deliberate change of ``counts``, ``offered-response``
or ``subset-response``. A vector is a mechanism, one person's value, a stream of 64-bit words, and the symbols and the
number of words that a device must end with; vectors.json is about whole reports.
"""

from __future__ import annotations

import json
import random
import runpy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from privet.mechanisms import MECHANISMS, Counts, Mechanism, OfferedResponse, SubsetResponse

HERE = Path(__file__).parent
VECTORS = HERE / "mechanism_vectors.json"
SHARED = runpy.run_path(str(HERE / "make_vectors.py"))
EPSILONS = (2.0**-20, 0.01, 0.1, 1 / 3, 1.0, 2.0, 3.7, 8.0, 20.0, 29.0)


def vectors() -> list[dict[str, Any]]:
    """All of them; every call makes the same."""
    return [_vector(random.Random(number), *case) for number, case in enumerate(_cases())]


def draw(parameters: dict[str, Any], value: list[int], words: list[int]) -> tuple[list[int], int]:
    """Return the symbols that a device draws, and how many words it used."""
    bits = SHARED["ReplayedBits"](words)
    mechanism = _mechanism(json.dumps(parameters, sort_keys=True))
    return mechanism.perturb(np.array([value]), bits).symbols[0].tolist(), bits.used


@cache
def _mechanism(document: str) -> Mechanism:
    """Make a mechanism once: its weights are exact, and take longer than all draws."""
    parameters = json.loads(document)
    return MECHANISMS[parameters.pop("mechanism")](**parameters)


def _vector(chance: random.Random, mechanism: Mechanism, value: list[int], first: list[int]) -> dict[str, Any]:
    words = [*first, *(SHARED["_word"](chance) for _ in range(200))]
    symbols, used = draw(mechanism.to_dict(), value, words)
    stream = "".join(f"{word:016x}" for word in words[:used])
    plain = json.loads(json.dumps(mechanism.to_dict()))
    return {"mechanism": plain, "value": value, "words": stream, "used": used, "symbols": symbols}


def _cases() -> Iterator[tuple[Mechanism, list[int], list[int]]]:
    chance = random.Random(13)
    for epsilon in EPSILONS:
        for cap in (1, 8, 32, 200):
            mechanism = Counts(epsilon=epsilon, classes=7, cap=cap)
            for _ in range(4):
                yield mechanism, [chance.choice([0, cap, chance.randint(0, cap)]) for _ in range(7)], []
            # One count and the two draws beside each report's end, so that every weight is read to its last digit.
            single = Counts(epsilon=epsilon, classes=1, cap=cap)
            for count in sorted({0, cap // 2, cap}):
                ends = np.cumsum(single.weights.row(count)).tolist()
                for end in chance.sample(ends, min(len(ends), 5)):
                    for word in (end - 1, end % single.weights.total):
                        yield single, [count], [word + single.weights.total]
    for epsilon in EPSILONS:
        for most in (2, 9, 255):
            mechanism = OfferedResponse(epsilon=epsilon, most=most)
            for options in sorted({*range(2, min(most, 9) + 1), most}):
                for position in sorted({0, options // 2, options - 1}):
                    yield mechanism, [position, options], []
    for epsilon in EPSILONS:
        for most in (2, 9, 12):
            subsets = SubsetResponse(epsilon=epsilon, most=most)
            for options in sorted({*range(2, min(most, 9) + 1), most}):
                for position in sorted({0, options // 2, options - 1}):
                    yield subsets, [position, options], []


if __name__ == "__main__":
    made = vectors()
    VECTORS.write_text("[\n" + ",\n".join(json.dumps(vector, sort_keys=True) for vector in made) + "\n]\n")
    print(f"{len(made)} vectors, {VECTORS.stat().st_size:,} bytes")
