"""The square wave for one value (PrivGE, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from privet.mechanisms.core.base import check_count
from privet.mechanisms.hds import HDS

__all__ = ["SquareWave"]


@dataclass(frozen=True, kw_only=True)
class SquareWave(HDS):
    """HDS for a single value (PrivGE, Algorithm 1)."""

    name = "square-wave"
    words = "the value is answered with a number near it or, with some probability, anywhere in the range"
    example: ClassVar[Mapping[str, Any]] = {**HDS.example, "dimension": 1}
    dimension: int = 1

    def _prepare(self) -> None:
        check_count(self.dimension, "dimension", 1, 1)
        super()._prepare()
