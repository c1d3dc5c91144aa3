from __future__ import annotations

import numpy as np
import pytest

from privet.advice.plan import Gain, Pooled, answer, compared, pooled
from privet.advice.worlds import World
from privet.evaluation.verdict import half_width

OURS = [[70.0, 71.0, 72.0], [70.0, 75.0, 80.0], [70.5, 71.5, 72.6], [60.0, 60.0, 60.1]]
THEIRS = [[68.0, 69.1, 70.0], [72.0, 70.0, 70.0], [70.0, 71.0, 72.0], [70.0, 70.0, 70.0]]
PLACES = [World("high", "weak")] * 4


def test_a_gain_is_beyond_noise_and_large_enough() -> None:
    rows = compared(PLACES, OURS, THEIRS, worth=1.0)
    assert [row.helps for row in rows] == [True, False, False, False]
    assert [row.open for row in rows] == [False, True, False, False]
    assert [row.gain > row.margin for row in rows] == [True, False, True, False]
    assert compared(PLACES, OURS, THEIRS, worth=0.2)[2].helps


def test_one_world_pools_to_itself() -> None:
    found = pooled(OURS[:1], THEIRS[:1])
    gains = np.subtract(OURS[0], THEIRS[0])
    assert found.gain == pytest.approx(gains.mean())
    assert found.margin == pytest.approx(half_width(gains))


def test_the_pooled_interval_covers_as_often_as_it_says() -> None:
    """95 % of 2,000 intervals; 4 standard deviations are 0.02 (one false alarm in 15,000)."""
    rng = np.random.default_rng(0)
    spread = np.array([[0.5], [1.0], [2.0]])
    offsets = np.array([[-4.0], [0.0], [4.0]])
    hits = 0
    for _ in range(2000):
        found = pooled((offsets + spread * rng.normal(size=(3, 5))).tolist(), np.zeros((3, 5)).tolist())
        hits += abs(found.gain) <= found.margin
    assert abs(hits / 2000 - 0.95) < 0.02


@pytest.mark.parametrize(
    ("helps", "gain", "words"),
    [
        ([True, True], 3.0, "yes"),
        ([True, False], 3.0, "depends"),
        ([False, False], -1.0, "no"),
        ([False, False], 0.7, "unclear"),
    ],
)
def test_answers(helps: list[bool], gain: float, words: str) -> None:
    rows = [Gain("low", "weak", 0.0, 0.0, 0.0, 0.0, each, False) for each in helps]
    assert answer(rows, Pooled(gain, 0.5), 1.0) == words
