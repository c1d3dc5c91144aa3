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
        raise InvalidReports(f"The batch ends after {len(data)} bytes, within its header of {_HEADER.size} bytes.")
    magic, study, count = _HEADER.unpack_from(data)
    if magic != _MAGIC:
        raise InvalidReports(f"The batch must begin with the bytes {_MAGIC.decode()}.")
    if not 1 <= count <= MOST_REPORTS:
        raise InvalidReports(f"A batch has 1 to {MOST_REPORTS} reports, and this one has {count}.")
    first = _HEADER.size + TOKEN_BYTES * count
    bodies = first + 4 * count
    if len(data) < bodies:
        raise InvalidReports(f"The batch ends after {len(data)} bytes, before its {count} tokens and lengths.")
    ends = list(accumulate(struct.unpack_from(f"<{count}I", data, first), initial=bodies))
    if ends[-1] != len(data):
        raise InvalidReports(f"The batch is {len(data)} bytes long, and its lengths add up to {ends[-1]}.")
    return study.hex(), data[_HEADER.size : first], [data[start:end] for start, end in pairwise(ends)]
