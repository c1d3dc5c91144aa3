"""Sealed messages: HPKE (RFC 9180) with X25519, HKDF-SHA256 and AES-128-GCM, the suite that every DAP server knows."""

from __future__ import annotations

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from privet.errors import InvalidParameter, InvalidReports

__all__ = ["KEY", "new_key", "open_sealed", "public_key", "seal"]

KEY = 32
"""The bytes of a key, private or public."""

_SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)


def new_key() -> bytes:
    """Return a new private key from the operating system's randomness."""
    return X25519PrivateKey.generate().private_bytes_raw()


def public_key(private_key: bytes) -> bytes:
    """Return the public key of a private one."""
    return _private(private_key).public_key().public_bytes_raw()


def seal(recipient: bytes, info: bytes, message: bytes) -> bytes:
    """Return a message that only one recipient can open: a fresh public key, then the ciphertext.

    Args:
        recipient: The recipient's public key.
        info: What the message belongs to, such as a task and a report's nonce. It is not sent; who opens the message
            must give the same. It also stands in for HPKE's associated data, which ``cryptography`` does not offer.
        message: The message.
    """
    if len(recipient) != KEY:
        raise InvalidParameter("recipient", f"a public key of {KEY} bytes", f"{len(recipient)} bytes")
    try:
        return _SUITE.encrypt(message, X25519PublicKey.from_public_bytes(recipient), info)
    except ValueError:  # such as the key of zeros, with which everybody could open the message
        raise InvalidParameter("The recipient's public key is not safe; ask the recipient for a new one.") from None


def open_sealed(private_key: bytes, info: bytes, sealed: bytes) -> bytes:
    """Return the message that :meth:`seal` closed.

    Args:
        private_key: The recipient's private key.
        info: What the message belongs to.
        sealed: The sealed message.

    Raises:
        InvalidReports: If the message was sealed for another key or another purpose, or was changed.
    """
    key = _private(private_key)
    try:
        return _SUITE.decrypt(sealed, key, info)
    except (InvalidTag, ValueError):
        raise InvalidReports(
            "The sealed message does not open: it was made for another key or purpose, or was changed on its way."
        ) from None


def _private(key: bytes) -> X25519PrivateKey:
    if len(key) != KEY:
        raise InvalidParameter("private_key", f"{KEY} bytes long", f"{len(key)} bytes")
    return X25519PrivateKey.from_private_bytes(key)
