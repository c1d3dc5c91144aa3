"""The piecewise mechanism, k of d (a baseline of PrivGE, eq. 3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from privet.mechanisms.core.window import SlidingWindow

__all__ = ["Piecewise"]


@dataclass(frozen=True, kw_only=True)
class Piecewise(SlidingWindow):
    """A window of width s - 1 slides over [-s, s], s = (e^(z/2) + 1) / (e^(z/2) - 1), z = epsilon / m.

    It slides the distance s + 1 as x goes from -1 to 1, so its width is e^(-z/2) of that distance: apart from this
    ratio, and from the output scale that makes it unbiased, it is the square wave. m defaults to
    max(1, min(d, floor(epsilon / 2.5))), as in the paper.

    Formal guarantee: epsilon-LDP, see SlidingWindow.
    """

    name = "piecewise"
    words = (
        "a few features are drawn at random, and each is answered with a number that is more likely near the "
        "true one than elsewhere"
    )
    small: ClassVar[Mapping[str, Any]] = {"steps": 16}

    def _best_sample(self) -> int:
        return int(self.epsilon / 2.5)

    @property
    def window_ratio(self) -> float:
        """(s - 1) / (s + 1) = e^(-z/2)."""
        return math.exp(-float(self.share) / 2)
