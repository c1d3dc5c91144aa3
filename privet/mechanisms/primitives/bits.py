"""Sources of randomness: the operating system on a device, a seed in a simulation. The type says which."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privet.errors import InvalidParameter

try:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
except ImportError:  # a device does without
    Cipher = None  # type: ignore[assignment, misc]

__all__ = ["Bits", "SeededBits", "SystemBits"]

_MANY_WORDS = 1024
_ZEROS = bytes(1 << 15)  # a piece of what the key stream is added to
WORD_RESOLUTION = 1 << 53
"""Draws are below 2^53 or smaller, so every draw is also exact as a double and in a browser."""


class Bits(ABC):
    """A source of uniform 64-bit words; everything else is derived from them by integer arithmetic."""

    @abstractmethod
    def words(self, count: int) -> NDArray[np.uint64]:
        """``count`` independent uniform words of 64 bits."""

    def words_for(self, names: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
        """One independent uniform word for each named thing, such as a node's coin.

        The names are of no use to a source of randomness. Only a replay, which must give a node the same coin in two
        worlds, reads them (:mod:`privet.auditing.central.replay`).
        """
        return self.words(len(names))

    def below(self, bound: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Uniform integers in [0, bound), exactly: words below 2^64 mod bound are drawn again.

        ``bound`` is a number or an array that broadcasts to ``shape``, each at most 2^53.
        """
        bounds = np.asarray(bound, dtype=np.uint64)
        if bounds.size and not 1 <= int(bounds.min()) <= int(bounds.max()) <= WORD_RESOLUTION:
            raise InvalidParameter("bound", "in [1, 2^53]", bound)
        words = self.words(int(np.prod(shape, dtype=np.int64))).reshape(shape)
        refused = words < (np.uint64(0) - bounds) % bounds
        while refused.any():
            words[refused] = self.words(int(refused.sum()))
            refused = words < (np.uint64(0) - bounds) % bounds
        return (words % bounds).astype(np.int64)


class SystemBits(Bits):
    """The operating system's cryptographic source: what a device uses for a real report.

    Many words at once, such as the noise of a training step, are the key stream of AES-256 in counter mode under a key
    that the operating system draws for this one call. That is how its own source works, several times as fast.
    """

    def words(self, count: int) -> NDArray[np.uint64]:
        """Words from ``os.urandom``, or from its 48 bytes if there are many."""
        if count < _MANY_WORDS or Cipher is None:
            return np.frombuffer(os.urandom(8 * count), dtype="<u8").astype(np.uint64)
        seed = os.urandom(48)
        stream = Cipher(algorithms.AES(seed[:32]), modes.CTR(seed[32:])).encryptor()
        found = np.empty(count + 2, dtype="<u8")  # a block more than is asked for, as update_into wants it
        place, left = found.data.cast("B"), 8 * count
        for start in range(0, left, len(_ZEROS)):
            stream.update_into(_ZEROS[: left - start], place[start:])
        return found[:count].astype(np.uint64, copy=False)


class SeededBits(Bits):
    """A seeded numpy generator, for simulations and tests only: who knows the seed can undo the noise.

    >>> int(SeededBits(0).below(6, (1,))[0]) == int(SeededBits(0).below(6, (1,))[0])
    True
    """

    def __init__(self, seed: int | np.random.Generator) -> None:
        if not isinstance(seed, np.random.Generator) and (not isinstance(seed, int | np.integer) or seed < 0):
            raise InvalidParameter("seed", "an integer of at least 0", seed)
        self._generator = np.random.default_rng(seed)

    def words(self, count: int) -> NDArray[np.uint64]:
        """Words from the generator's stream."""
        return self._generator.integers(0, 1 << 64, size=count, dtype=np.uint64)
