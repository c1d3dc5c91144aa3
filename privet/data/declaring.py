"""The line that declares a schema, written out for a researcher whose graph has none yet."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["declaration"]

_STEPS = (1, 2, 5, 10)


def declaration(features: Any, labels: NDArray[np.integer[Any]] | None) -> tuple[str, str]:
    """Write the call of ``Schema.numeric`` that fits some data, and a remark on its numbers.

    The range is guessed from the values, rounded outwards to 1, 2 or 5 times a power of ten. It is for the eyes of
    somebody who holds the data, as a line to check and to copy: a range must be a public fact, so nothing in privet
    declares a schema by itself.

    Args:
        features: The features, dense or sparse.
        labels: The classes, or None.

    >>> declaration(np.array([[0.0, 3.2], [-0.4, 1.0]]), np.array([0, 5]))[0]
    'Schema.numeric(2, low=-0.5, high=5, classes=6)'
    >>> declaration(np.array([[0.0, 1.0]]), None)[1]
    'Every feature is 0 or 1 here.'
    """
    values = features if isinstance(features, np.ndarray) else features.data
    least, most = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    least, most = min(least, 0.0), max(most, 0.0)  # sparse features have zeros, and dense ones rarely lack them
    binary = bool(np.isin(values, (0, 1)).all())
    low, high = (0.0, 1.0) if binary else (-_rounded_up(-least), _rounded_up(most))
    classes = 0 if labels is None or not (labels >= 0).any() else max(2, int(labels.max()) + 1)
    line = f"Schema.numeric({features.shape[1]}, low={low + 0.0:g}, high={high if high > low else low + 1:g}"
    remark = "Every feature is 0 or 1 here." if binary else "low and high are guesses from the values here."
    return f"{line}, classes={classes})", remark


def _rounded_up(value: float) -> float:
    """Round a number of at least 0 up to 1, 2 or 5 times a power of ten."""
    if not value:
        return 0.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in _STEPS if step * power >= value * (1 - 1e-6))
