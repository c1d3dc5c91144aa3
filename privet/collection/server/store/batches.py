"""Many reports in one request, packed: for gateways that pass on what devices gave them.

"pvb1" | study id (32 bytes) | count (uint32) | tokens (24 bytes each) | lengths (uint32 each) | bodies
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import accumulate, pairwise

from privet.collection.study.tokens import TOKEN_BYTES
from privet.errors import InvalidReports

__all__ = ["pack_batch", "unpack_batch"]

_HEADER = struct.Struct("<4s32sI")
_MAGIC = b"pvb1"
MOST_REPORTS = 10_000


def pack_batch(study_id: str, tokens: Sequence[bytes], bodies: Sequence[bytes]) -> bytes:
    """Return the request body for some participants' packed tokens and report bodies."""
    lengths = struct.pack(f"<{len(bodies)}I", *map(len, bodies))
    return _HEADER.pack(_MAGIC, bytes.fromhex(study_id), len(bodies)) + b"".join(tokens) + lengths + b"".join(bodies)


def unpack_batch(data: bytes) -> tuple[str, bytes, list[bytes]]:
    """Return the study's id, the tokens end to end, and the bodies; a batch with a damaged frame is refused whole."""
    if len(data) < _HEADER.size:
        raise InvalidReports("batch", f"at least {_HEADER.size} bytes long", len(data))
    magic, study, count = _HEADER.unpack_from(data)
    if magic != _MAGIC:
        raise InvalidReports("batch", f"one that begins with {_MAGIC!r}", magic)
    if not 1 <= count <= MOST_REPORTS:
        raise InvalidReports("batch", f"of 1 to {MOST_REPORTS} reports", count)
    first = _HEADER.size + TOKEN_BYTES * count
    bodies = first + 4 * count
    if len(data) < bodies:
        raise InvalidReports("batch", f"at least {bodies} bytes long", len(data))
    ends = list(accumulate(struct.unpack_from(f"<{count}I", data, first), initial=bodies))
    if ends[-1] != len(data):
        raise InvalidReports("batch", f"{ends[-1]} bytes long", len(data))
    return study.hex(), data[_HEADER.size : first], [data[start:end] for start, end in pairwise(ends)]
