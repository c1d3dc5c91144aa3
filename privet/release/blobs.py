"""Public arrays as bytes that their own hash names: what a manifest binds, a collector serves and a device checks.

A blob is the array's type and shape in numpy's words, then its little-endian content: ``<i4 (2000,) `` and 8,000 bytes.
What is made from people's reports begins with a salt of 16 random bytes, ``5f0c...e1 <i4 (2000,) ``. Whoever has the
blob computes its hash; whoever has the hash alone cannot try out what the array might have been.
"""

from __future__ import annotations

import hashlib
import os
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidData

__all__ = ["array_digest", "array_of", "blob_of", "new_salt", "salt_of"]

_SALT = 16  # bytes
_HEAD = re.compile(rb"(?:([0-9a-f]{32}) )?([<|][iu][1248]) \((\d{1,12}),(?: (\d{1,12}))?\) ")


def new_salt() -> bytes:
    """Return a salt from the operating system."""
    return os.urandom(_SALT)


def blob_of(array: NDArray[Any], salt: bytes = b"") -> bytes:
    """Return the bytes of an array.

    Args:
        salt: 16 random bytes that keep its hash from being guessed; none by default.
    """
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return (f"{salt.hex()} " if salt else "").encode() + f"{plain.dtype.str} {plain.shape} ".encode() + plain.tobytes()


def salt_of(blob: bytes) -> bytes:
    """Return the salt of a blob; empty if it has none."""
    return bytes.fromhex((_head(blob)[1] or b"").decode())


def array_of(blob: bytes) -> NDArray[Any]:
    """Read what :func:`blob_of` wrote; only integers, in one or two dimensions."""
    head = _head(blob)
    kind, shape = np.dtype(head[2].decode()), tuple(int(size) for size in head.groups()[2:] if size is not None)
    if len(blob) - head.end() != kind.itemsize * int(np.prod([1, *shape], dtype=object)):
        raise InvalidData("public array", f"of shape {shape}", f"{len(blob)} bytes")
    return np.frombuffer(blob, dtype=kind, offset=head.end()).reshape(shape).astype(kind.newbyteorder("="))


def _head(blob: bytes) -> re.Match[bytes]:
    head = _HEAD.match(blob)
    if head is None:
        raise InvalidData("The public array does not begin with its type and shape.")
    return head


def array_digest(array: NDArray[Any], salt: bytes = b"") -> str:
    """Return the SHA-256 of an array's blob as manifests write it.

    Args:
        salt: The salt of the blob; none by default.
    """
    return "sha256:" + hashlib.sha256(blob_of(array, salt)).hexdigest()
