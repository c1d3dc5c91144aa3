"""The parts that an epsilon and a delta are made of, in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Explanation", "Part"]


@dataclass(frozen=True)
class Part:
    """One part of an epsilon or of a delta.

    Attributes:
        key: Its name in JSON.
        value: The amount.
        words: What it pays for.
    """

    key: str
    value: float
    words: str


@dataclass(frozen=True)
class Explanation:
    """The parts that a guarantee's figures are made of.

    Attributes:
        epsilon: Parts that add up to epsilon.
        delta: Parts that add up to delta (default: none).
        sentences: The rest that a reader should know (default: nothing).
    """

    epsilon: tuple[Part, ...]
    delta: tuple[Part, ...] = ()
    sentences: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "epsilon": [asdict(part) for part in self.epsilon],
            "delta": [asdict(part) for part in self.delta],
            "sentences": list(self.sentences),
        }
