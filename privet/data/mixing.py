"""The one hash of counters: public random bits that everybody can compute again (SplitMix64; Steele, Lea, Flood 2014).

It spreads ids over partitions, draws public projections, and gives a coin the same value whoever else tosses one. It is
no source of privacy: whatever must be unpredictable comes from :class:`privet.mechanisms.Bits`.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["MULTIPLIER", "STEP", "STEP_WORD", "mixed", "mixed_words"]

Words = TypeVar("Words")

STEP = 0x9E3779B97F4A7C15 - (1 << 64)
"""The difference between SplitMix64's states, as a signed integer."""

STEP_WORD = np.uint64(STEP % (1 << 64))
"""The same as an unsigned word."""

MULTIPLIER = 0x94D049BB133111EB - (1 << 64)
"""The last multiplier of the hash, as a signed integer."""

_FIRST = 0xBF58476D1CE4E5B9 - (1 << 64)


def mixed(words: Words) -> Words:
    """Hash signed 64-bit integers, which wrap around.

    Args:
        words: A NumPy array or a tensor.

    >>> hex(int(mixed(np.array([STEP])).view(np.uint64)[0]))  # SplitMix64's first output for the seed 0
    '0xe220a8397b1dcdaf'
    """
    found: Any = words
    found = (found ^ _shifted(found, 30)) * _FIRST
    found = (found ^ _shifted(found, 27)) * MULTIPLIER
    found = found ^ _shifted(found, 31)
    hashed: Words = found
    return hashed


def mixed_words(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash unsigned 64-bit integers.

    Args:
        words: The integers, any shape.
    """
    return mixed(words.view(np.int64)).view(np.uint64)


def _shifted(words: Any, by: int) -> Any:
    """Shift right without the sign."""
    return (words >> by) & (2 ** (64 - by) - 1)
