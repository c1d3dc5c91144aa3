from __future__ import annotations

import math

import pytest

from privet.errors import InvalidParameter
from privet.privacy.accounting.calibration import least_noise


@pytest.mark.parametrize("target", [0.01, 1.0, 3.0, 500.0])
def test_what_is_returned_was_evaluated_and_is_nearly_least(target: float) -> None:
    seen: dict[float, float] = {}

    def epsilon_at(noise: float) -> float:
        seen[noise] = 10 / noise
        return seen[noise]

    found = least_noise(epsilon_at, target, "test")
    assert seen[found] <= target
    assert found <= 1.001 * 10 / target


@pytest.mark.parametrize(("floor", "words"), [(0.5, "at least 0.5"), (math.inf, "no noise reaches it")])
def test_a_target_out_of_reach_is_refused(floor: float, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        least_noise(lambda noise: max(floor, 1 / noise), 0.1, "test")
