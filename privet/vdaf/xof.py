"""The extendable output function: seeds into more seeds and into vectors, by TurboSHAKE128."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from Crypto.Hash import TurboSHAKE128

from privet.vdaf.fields import Elements, Field

__all__ = ["SEED", "derive", "expand"]

SEED = 32
"""The bytes of a seed."""

_DOMAIN = 1  # TurboSHAKE's domain separation byte


def _stream(seed: bytes, tag: bytes, binder: bytes) -> TurboSHAKE128.TurboSHAKE:
    whole = b"".join((len(tag).to_bytes(2, "little"), tag, len(seed).to_bytes(1, "little"), seed, binder))
    return TurboSHAKE128.new(domain=_DOMAIN, data=whole)


def derive(seed: bytes, tag: bytes, binder: bytes) -> bytes:
    """Return a new seed.

    Args:
        seed: A seed.
        tag: What the output is for.
        binder: What the output is bound to.
    """
    return bytes(_stream(seed, tag, binder).read(SEED))


def expand(field: Field, seeds: Sequence[bytes], tag: bytes, binders: Sequence[bytes], length: int) -> Elements:
    """Return one pseudo-random vector a seed.

    Elements are read from the stream one after the other; what is not below the prime is passed over, which happens
    once in 2^32 elements of the 64-bit field and never in practice in the other.

    Args:
        field: The vectors' field.
        seeds: One seed a row.
        tag: What the vectors are for.
        binders: What each vector is bound to.
        length: The elements of a vector.
    """
    given = list(zip(seeds, binders, strict=True))
    drawn = b"".join(_stream(seed, tag, binder).read(length * field.size) for seed, binder in given)
    found = field.decode(np.frombuffer(drawn, np.uint8).reshape(len(given), -1))
    refused = field.overflows(found)
    if refused.any():
        found = found.copy()
        for row in np.flatnonzero(refused.any(axis=1)):
            found[row] = _slowly(field, _stream(given[row][0], tag, given[row][1]), length)
    return found


def _slowly(field: Field, stream: TurboSHAKE128.TurboSHAKE, length: int) -> Elements:
    """Return a vector from a stream of which some elements are passed over."""
    kept: Elements = field.zeros(1, 0)[0]
    while len(kept) < length:
        more = field.decode(np.frombuffer(stream.read((length - len(kept)) * field.size), np.uint8)[None])[0]
        kept = np.concatenate([kept, more[~field.overflows(more)]])
    return kept
