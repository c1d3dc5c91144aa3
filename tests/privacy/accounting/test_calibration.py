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

    found = least_noise(epsilon_at, target)
    assert seen[found] <= target
    assert found <= 1.001 * 10 / target


@pytest.mark.parametrize(("floor", "words"), [(0.5, "at least 0.5"), (math.inf, "no noise reaches it")])
def test_a_target_out_of_reach_is_refused(floor: float, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        least_noise(lambda noise: max(floor, 1 / noise), 0.1)


def test_a_target_that_needs_no_noise_is_refused() -> None:
    asked: list[float] = []

    def nothing(noise: float) -> float:
        asked.append(noise)
        return 0.0

    with pytest.raises(InvalidParameter, match="needs no noise"):
        least_noise(nothing, 1.0)
    assert len(asked) < 20


def test_a_lower_bound_only_makes_the_search_quicker() -> None:
    found = least_noise(lambda noise: 10 / noise, 2.0, lambda noise: 9 / noise)
    assert 10 / found <= 2.0
    assert found <= 1.1 * 5
    with pytest.raises(InvalidParameter, match="no noise reaches it"):
        least_noise(lambda noise: math.inf, 2.0, lambda noise: 1 / noise)


@pytest.mark.parametrize("exponent", [0.7, 1.4, 2.5])
def test_few_evaluations_come_close_to_the_target(exponent: float) -> None:
    """The quick bound is half of the truth, as where the worst degree is another one."""
    asked: list[float] = []

    def epsilon_at(noise: float) -> float:
        asked.append(noise)
        return 40 / noise**exponent

    noise = least_noise(epsilon_at, 16.0, lambda noise: 20 / noise**exponent)
    assert 16.0 * 0.998 <= 40 / noise**exponent <= 16.0
    assert len(asked) <= 6


def test_a_jump_over_the_target_ends_above_it() -> None:
    noise = least_noise(lambda noise: (5.0 if noise >= 3 else 20.0) / noise, 4.0, lambda noise: 5.0 / noise)
    assert 3 <= noise <= 3.01
