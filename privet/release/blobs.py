"""Public arrays as bytes that their own hash names: what a manifest binds, a collector serves and a device checks.

A blob is the array's type and shape in numpy's words, then its little-endian content: ``<i4 (2000,) `` and 8,000 bytes.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidData

__all__ = ["array_digest", "array_of", "blob_of"]

_HEAD = re.compile(rb"([<|][iu][1248]) \((\d{1,12}),(?: (\d{1,12}))?\) ")


def blob_of(array: NDArray[Any]) -> bytes:
    """Return the bytes of an array."""
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return f"{plain.dtype.str} {plain.shape} ".encode() + plain.tobytes()


def array_of(blob: bytes) -> NDArray[Any]:
    """Read what :func:`blob_of` wrote; only integers, in one or two dimensions."""
    head = _HEAD.match(blob)
    if head is None:
        raise InvalidData("public array", "one of integers that says its type and shape", "other bytes")
    kind, shape = np.dtype(head[1].decode()), tuple(int(size) for size in head.groups()[1:] if size is not None)
    if len(blob) - head.end() != kind.itemsize * int(np.prod([1, *shape], dtype=object)):
        raise InvalidData("public array", f"of shape {shape}", f"{len(blob)} bytes")
    return np.frombuffer(blob, dtype=kind, offset=head.end()).reshape(shape).astype(kind.newbyteorder("="))


def array_digest(array: NDArray[Any]) -> str:
    """Return the SHA-256 of an array's blob as manifests write it."""
    return "sha256:" + hashlib.sha256(blob_of(array)).hexdigest()
