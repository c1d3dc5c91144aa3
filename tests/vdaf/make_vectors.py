"""Make vectors.json, our own vectors of Prio3: ``python tests/vdaf/make_vectors.py`` writes it.

They guard what the official vectors once confirmed, where those cannot be had, and shapes that those do not have.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "helpers"))

from prio3_vectors import prio3_of  # noqa: E402

from privet.vdaf import Prio3, Report  # noqa: E402

CONTEXT = b"privet"
SHAPES: list[tuple[str, dict[str, int], list[Any]]] = [
    ("Prio3Count", {"shares": 2}, [0, 1]),
    ("Prio3Sum", {"shares": 3, "max_measurement": 1000}, [0, 1000, 513]),
    ("Prio3SumVec", {"shares": 2, "length": 3, "max_measurement": 5, "chunk_length": 4}, [[0, 5, 3]]),
    ("Prio3SumVecWithMultiproof", {"shares": 2, "length": 2, "max_measurement": 2, "chunk_length": 1}, [[2, 1]]),
    ("Prio3Histogram", {"shares": 2, "length": 4, "chunk_length": 3}, [3, 0]),
    ("Prio3MultihotCountVec", {"shares": 2, "length": 5, "max_weight": 3, "chunk_length": 3}, [[1, 0, 1, 1, 0]]),
    ("Prio3HigherDegree", {"shares": 2}, [2]),
]


def drawn(name: str, size: int) -> bytes:
    return hashlib.shake_256(name.encode()).digest(size)


def vector_of(name: str, parameters: dict[str, int], measurements: list[Any]) -> dict[str, Any]:
    """Return a vector in the draft's format, with the variant's name."""
    prio3 = prio3_of(name, parameters)
    key, places = drawn(f"{name} key", 32), range(len(measurements))
    nonces = [drawn(f"{name} nonce {i}", 16) for i in places]
    random = [drawn(f"{name} random {i}", prio3.random_size) for i in places]
    reports = prio3.shard(CONTEXT, measurements, nonces, random)
    found = ended(prio3, key, reports)
    told = [
        {
            "measurement": measurements[i],
            "nonce": nonces[i].hex(),
            "rand": random[i].hex(),
            "public_share": reports[i].public_share.hex(),
            "input_shares": [share.hex() for share in reports[i].input_shares],
            **{key: value[i] for key, value in found["reports"].items()},
        }
        for i in places
    ]
    operations = [("shard", None), *(("verify_init", server) for server in range(prio3.shares))]
    operations += [("verifier_shares_to_message", None), *(("verify_next", i) for i in range(prio3.shares))]
    operations += [*(("aggregate", i) for i in range(prio3.shares)), ("unshard", None)]
    return {
        "name": name,
        **parameters,
        "ctx": CONTEXT.hex(),
        "verify_key": key.hex(),
        "reports": told,
        "agg_shares": found["agg_shares"],
        "agg_result": found["agg_result"],
        "operations": [
            {"operation": step, "success": True} | ({} if server is None else {"aggregator_id": server})
            for step, server in operations
        ],
    }


def ended(prio3: Prio3, key: bytes, reports: list[Report]) -> dict[str, Any]:
    """Return all that servers and collector make of some reports."""
    nonces, public = [r.nonce for r in reports], [r.public_share for r in reports]
    begun = [
        prio3.verify_init(key, CONTEXT, server, nonces, public, [r.input_shares[server] for r in reports])
        for server in range(prio3.shares)
    ]
    messages, _ = prio3.verifier_messages(CONTEXT, [shares for _, shares in begun])
    verified = [prio3.verify_next(state, messages) for state, _ in begun]
    outputs = [prio3.circuit.field.encode(each.outputs) for each in verified]
    shares = [prio3.aggregate(each) for each in verified]
    places = range(len(reports))
    return {
        "reports": {
            "verifier_shares": [[[(sent[i] or b"").hex() for _, sent in begun]] for i in places],
            "verifier_messages": [[(messages[i] or b"").hex()] for i in places],
            "out_shares": [[rows[i].tobytes().hex() for rows in outputs] for i in places],
        },
        "agg_shares": [share.hex() for share in shares],
        "agg_result": prio3.unshard(shares),
    }


def vectors() -> list[dict[str, Any]]:
    """Return all vectors."""
    return [vector_of(*shape) for shape in SHAPES]


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(vector) for vector in vectors())
    (HERE / "vectors.json").write_text(f"[\n{lines}\n]\n")
