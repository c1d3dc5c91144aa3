"""The cost model of docs/how-to/scale.md against a run of the benchmark ``distributed``.

``python -m benchmarks._cost_model FILE`` reads the benchmark's JSON line. A hop costs

    seconds x workers = a x entries + b x bytes moved

for a fixed number of columns and a fixed size of partitions. Both rates are solved from the two large graphs, of which
one moves little and the other much; the small graph is then predicted and compared.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

WORKERS = 2


def rates(found: dict[str, Any]) -> dict[str, float]:
    """Nanoseconds an entry and a byte moved of one worker, and the small graph's hop as predicted and as measured."""
    rows = np.array([_costs(found, name) for name in ("large", "random")])
    seconds = np.array([_seconds(found, name) for name in ("large", "random")])
    entry, byte = np.linalg.solve(rows, WORKERS * seconds)
    predicted = float(np.array([entry, byte]) @ _costs(found, "small")) / WORKERS
    return {
        "nanoseconds_an_entry": 1e9 * float(entry),
        "nanoseconds_a_byte_moved": 1e9 * float(byte),
        "small_hop_predicted_seconds": predicted,
        "small_hop_measured_seconds": _seconds(found, "small"),
        "predicted_against_measured": predicted / _seconds(found, "small"),
    }


def _costs(found: dict[str, Any], name: str) -> list[float]:
    return [found[name]["entries"], found[name]["moved_bytes_a_hop"]]


def _seconds(found: dict[str, Any], name: str) -> float:
    return float(found[name]["hops_seconds"]) / int(found["hops"])


if __name__ == "__main__":
    line = Path(sys.argv[1]).read_text().strip().splitlines()[-1]
    print(json.dumps({name: round(value, 4) for name, value in rates(json.loads(line)).items()}))
