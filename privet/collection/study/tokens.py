"""Enrolment tokens: one participant, one node. Signed by the operator's key, which may be replaced, and revocable.

A token is node (4 bytes) | serial (4 bytes) | keyed BLAKE2b(node | serial) of 16 bytes, written in base64url (32
characters); the key is made of the operator's and of the id of the study's first round, so a token is good for all
rounds of one study, and for no other. Serial numbers let an operator revoke a lost token and issue another for the same
node.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
import struct
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from privet.collection.study.manifest import Study
from privet.errors import InvalidData

__all__ = ["TOKEN_BYTES", "Access", "InvalidToken", "Tokens", "new_key", "node_of"]

_NAMED = struct.Struct("<II")
_TAG = 16
_PACKED = np.dtype([("node", "<u4"), ("serial", "<u4"), ("tag", f"V{_TAG}")])
TOKEN_BYTES = _NAMED.size + _TAG
_INCOMPLETE = "This text is not an enrolment token. Use the whole link that you were sent."
_UNSIGNED = "The enrolment token has no valid signature of this study. Use the link that you were sent for it."
_REVOKED = "The enrolment token was revoked. Ask the operator of the study for a new link."


class InvalidToken(InvalidData):
    """A token that was not issued for this study, or was revoked."""


def new_key() -> bytes:
    """Draw a fresh signing key."""
    return secrets.token_bytes(32)


def node_of(token: str) -> int:
    """Return the node that a token names, as its holder reads it; only the operator can tell whether it is signed."""
    raw = _decode(token)
    if len(raw) != TOKEN_BYTES:
        raise InvalidToken(_INCOMPLETE)
    return int(_NAMED.unpack_from(raw)[0])


@dataclass(frozen=True)
class Tokens:
    """The issuer and checker of one study's tokens.

    Attributes:
        key: The operator's signing key.
        older: Earlier signing keys, whose tokens are still good.
    """

    study: Study
    key: bytes = field(repr=False)
    older: tuple[bytes, ...] = field(default=(), repr=False)

    def issue(self, node: int, serial: int = 0) -> str:
        """Return the token of a node; ``serial`` counts how often it was replaced."""
        if not 0 <= node < self.study.nodes:
            raise InvalidData("node", f"an id below {self.study.nodes}", node)
        named = _NAMED.pack(node, serial)
        return base64.urlsafe_b64encode(named + _tag(self._study_keys[0], named)).decode()

    def check(self, token: str, revoked: Container[tuple[int, int]] = ()) -> int:
        """Return the node that a token speaks for, unless its (node, serial) is revoked."""
        return self.check_bytes(_decode(token), revoked)

    def check_bytes(self, raw: bytes, revoked: Container[tuple[int, int]] = ()) -> int:
        """Return the node that a packed token speaks for."""
        named, tag = raw[: _NAMED.size], raw[_NAMED.size :]
        if len(raw) != TOKEN_BYTES or not any(hmac.compare_digest(_tag(key, named), tag) for key in self._study_keys):
            raise InvalidToken(_UNSIGNED)
        node, serial = _NAMED.unpack_from(raw)
        if node >= self.study.nodes or (node, serial) in revoked:
            raise InvalidToken(_REVOKED)
        return int(node)

    def check_many(self, block: bytes, revoked: frozenset[tuple[int, int]] = frozenset()) -> list[int] | None:
        """Return the nodes of many packed tokens; None if any of them is not good, and each has to be looked at."""
        given = np.frombuffer(block, dtype=_PACKED)
        nodes: list[int] = given["node"].tolist()
        if not self._genuine(block, given["tag"]) or max(nodes, default=0) >= self.study.nodes:
            return None
        return nodes if revoked.isdisjoint(zip(nodes, given["serial"].tolist(), strict=True)) else None

    def _genuine(self, block: bytes, given: NDArray[np.void]) -> bool:
        """Check the newest key against all, and an older one only against those that no newer one signed."""
        rows: Sequence[int] = range(len(given))
        size = _NAMED.size
        for key in self._study_keys:
            keyed = blake2b(digest_size=_TAG, key=key)  # half of the work of a short hash is to take the key in
            tags = []
            for row in rows:
                hashed, at = keyed.copy(), TOKEN_BYTES * row
                hashed.update(block[at : at + size])
                tags.append(hashed.digest())
            expected = given if len(rows) == len(given) else given[rows]
            if hmac.compare_digest(b"".join(tags), expected.tobytes()):
                return True
            pairs = zip(rows, tags, strict=True)
            rows = [row for row, tag in pairs if not hmac.compare_digest(tag, given[row].tobytes())]
        return False

    @cached_property
    def _study_keys(self) -> tuple[bytes, ...]:
        study = bytes.fromhex(self.study.chain)
        return tuple(hmac.digest(key, study, "sha256") for key in (self.key, *self.older))


@dataclass(frozen=True)
class Access:
    """The tokens and keys that a collector accepts.

    Attributes:
        tokens: The checker of the participants' tokens.
        operator: The operator's keys; each of them opens the operator's page.
    """

    tokens: Tokens
    operator: tuple[str, ...] = field(repr=False)

    def is_operator(self, given: str) -> bool:
        """Tell whether a text is one of the operator's keys."""
        return any(hmac.compare_digest(given.encode(), key.encode()) for key in self.operator)


def _tag(key: bytes, named: bytes) -> bytes:
    return blake2b(named, digest_size=_TAG, key=key).digest()


def _decode(token: str) -> bytes:
    try:
        return base64.b64decode(token.encode(), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        raise InvalidToken(_INCOMPLETE) from None
