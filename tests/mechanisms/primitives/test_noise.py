"""Noise of the stated scale, shape and independence; thresholds of the statistical tests are at 1e-6 false alarms."""

import numpy as np
import pytest
from scipy import stats

from privet.errors import InvalidParameter
from privet.mechanisms import SeededBits, SystemBits
from privet.mechanisms.primitives.noise import noisy_sum, standard_normal

ALARM = 1e-6


@pytest.mark.parametrize("bits", [SeededBits(1), SystemBits()], ids=["seeded", "system"])
def test_standard_normal_is_normal(bits: SeededBits | SystemBits) -> None:
    draws = standard_normal(200_000, bits)
    assert stats.kstest(draws, "norm").pvalue > ALARM
    assert stats.kstest(draws[1:] - draws[:-1], "norm", args=(0, np.sqrt(2))).statistic < 0.02  # neighbours unrelated


def test_the_words_of_one_draw_are_used_once() -> None:
    assert len(np.unique(standard_normal(10_000, SeededBits(2)))) == 10_000


def test_gaussian_noise_has_the_stated_scale_and_is_added() -> None:
    start = np.arange(50_000, dtype=np.float32)
    noise = (noisy_sum(start, 3.0, SeededBits(3)) - start) / 3.0
    assert stats.kstest(noise, "norm").pvalue > ALARM


def test_sml_marginals_are_laplace_and_coordinates_share_one_scale() -> None:
    bits = SeededBits(4)
    draws = np.array([noisy_sum(np.zeros(400), 2.0, bits, noise="sml") for _ in range(4_000)])
    assert stats.kstest(draws[:, 0], "laplace", args=(0, 2.0 / np.sqrt(2))).pvalue > ALARM
    scales = (draws / 2.0).std(axis=1) ** 2  # each vector reveals its own W ~ Exp(1), up to 400 coordinates' error
    assert stats.kstest(scales, "expon").statistic < 0.05


def test_a_seed_repeats_and_zero_adds_nothing() -> None:
    vector = np.linspace(-1, 1, 7)
    assert np.array_equal(noisy_sum(vector, 1.0, SeededBits(5)), noisy_sum(vector, 1.0, SeededBits(5)))
    assert np.array_equal(noisy_sum(vector, 0.0, SeededBits(5)), vector)
    assert not np.array_equal(noisy_sum(vector, 1.0, SystemBits()), noisy_sum(vector, 1.0, SystemBits()))


def test_shape_and_precision() -> None:
    result = noisy_sum(np.zeros((3, 2), dtype=np.float32), 1.0, SeededBits(6))
    assert result.shape == (3, 2)
    assert result.dtype == np.float64


@pytest.mark.parametrize(
    ("sigma", "noise", "name"), [(-1, "gaussian", "sigma"), (np.inf, "sml", "sigma"), (1, "x", "noise")]
)
def test_bad_parameters_in_one_sentence(sigma: float, noise: str, name: str) -> None:
    with pytest.raises(InvalidParameter, match=f"The '{name}' parameter of noisy_sum must be"):
        noisy_sum(np.zeros(2), sigma, SeededBits(0), noise=noise)  # type: ignore[arg-type]
