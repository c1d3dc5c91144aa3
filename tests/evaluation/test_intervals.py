from __future__ import annotations

import math

import numpy as np
import pytest

from privet.evaluation.intervals import half_width


def test_intervals_hold_the_mean_as_often_as_they_say() -> None:
    """Of 4,000 intervals 95 % hold it: 0.34 % standard error, so a correct program fails with probability 1e-4."""
    draws = np.random.default_rng(0).normal(3.0, 2.0, size=(4_000, 4))
    held = np.mean([abs(row.mean() - 3.0) <= half_width(row.tolist()) for row in draws])
    assert abs(held - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 4_000)
    assert half_width([84.0, 85.0, 86.0]) == pytest.approx(4.302653 / math.sqrt(3), abs=1e-5)  # t for 2 degrees


def test_one_value_has_no_interval() -> None:
    assert half_width([5.0]) is None
