"""Noise in double precision; thresholds of the statistical tests are at 1e-6 false alarms."""

import numpy as np
import pytest
from scipy import stats

from privet.mechanisms import SeededBits, SystemBits
from privet.mechanisms.primitives.noise import sml_noise, standard_normal

ALARM = 1e-6


@pytest.mark.parametrize("bits", [SeededBits(1), SystemBits()], ids=["seeded", "system"])
def test_standard_normal_is_normal(bits: SeededBits | SystemBits) -> None:
    draws = standard_normal(200_000, bits)
    assert stats.kstest(draws, "norm").pvalue > ALARM
    assert stats.kstest(draws[1:] - draws[:-1], "norm", args=(0, np.sqrt(2))).statistic < 0.02  # neighbours unrelated


def test_the_words_of_one_draw_are_used_once() -> None:
    assert len(np.unique(standard_normal(10_000, SeededBits(2)))) == 10_000


def test_sml_marginals_are_laplace_and_coordinates_share_one_scale() -> None:
    bits = SeededBits(4)
    draws = np.array([sml_noise((400,), 2.0, bits) for _ in range(4_000)])
    assert stats.kstest(draws[:, 0], "laplace", args=(0, 2.0 / np.sqrt(2))).pvalue > ALARM
    scales = (draws / 2.0).std(axis=1) ** 2  # each vector reveals its own W ~ Exp(1), up to 400 coordinates' error
    assert stats.kstest(scales, "expon").statistic < 0.05
    assert sml_noise((3, 2), 1.0, bits).shape == (3, 2)
