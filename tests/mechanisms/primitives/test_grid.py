"""Sums on a grid, and the attack on low bits that noise in double precision does not survive."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from thorough import thorough

from privet.errors import InvalidParameter
from privet.mechanisms import GridSum, SeededBits
from privet.mechanisms.primitives import grid
from privet.mechanisms.primitives.grid import unit_rows_on_grid
from privet.mechanisms.primitives.noise import standard_normal

UNIT = 2.0**-36


def nobody_was_there(released: np.ndarray) -> bool:
    """Guess from low bits that the sum was zero.

    Adding noise to a number of size s rounds the result to multiples of 2^-53 s. A released coordinate with finer bits
    than that cannot have had such a number in it.
    """
    finest = np.abs(released) * 2.0**52
    return bool((np.mod(released, 2.0**-60) != 0)[finest < 1e300].any())


@pytest.mark.parametrize("present", [False, True])
def test_low_bits_tell_addends_of_doubles_apart_but_not_of_integers(present: bool) -> None:
    """30 releases of 2,000 coordinates, with a batch whose sum is 1/4 everywhere and with an empty one.

    Double precision: the attack is right every time. On the grid it answers the same in both worlds, since both have
    the same support. Seeds are fixed: with others the attack on doubles overlooks about one empty batch in 70.
    """
    total = np.full(2_000, 2**34 if present else 0, dtype=np.int64)
    doubles, integers = [], []
    for seed in range(30):
        bits = SeededBits(seed)
        doubles.append(nobody_was_there(total * UNIT + standard_normal(len(total), bits)))
        integers.append(nobody_was_there(GridSum(total, UNIT).with_noise(1.0, bits)))
    assert all(guess is not present for guess in doubles)
    assert not any(integers)


def test_noise_is_added_at_the_stated_scale() -> None:
    total = GridSum(np.arange(60_000).reshape(300, 200) << 20, UNIT)
    noise = (total.with_noise(3.0, SeededBits(3)) - total.exact()) / 3.0
    assert noise.shape == (300, 200)
    assert stats.kstest(noise.ravel(), "norm").pvalue > 1e-6
    assert np.array_equal(total.with_noise(0.0, SeededBits(0)), total.exact())
    assert np.std(total.with_noise(3.0, SeededBits(3), noise="sml") - total.exact()) > 0


@thorough
@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 9), st.sampled_from([1e-30, 1.0, 1e30]))
def test_no_row_exceeds_norm_one_and_directions_are_kept(seed: int, rows: int, columns: int, size: float) -> None:
    given_rows = size * np.random.default_rng(seed).normal(size=(rows, columns))
    found, unit = unit_rows_on_grid(sp.csr_array(given_rows))
    for row, integers in zip(given_rows, found.toarray().tolist(), strict=True):
        assert sum(value * value for value in integers) * unit**2 <= 1
        np.testing.assert_allclose(np.array(integers) * unit, row / np.linalg.norm(row), atol=2e-6)


def test_rows_without_a_direction_become_zero() -> None:
    found, _ = unit_rows_on_grid(np.array([[0.0, 0.0], [np.inf, 1.0], [np.nan, 1.0], [3.0, 4.0]]))
    assert (found.toarray()[:3] == 0).all()
    assert found.toarray()[3].any()


def test_more_noise_than_is_accounted_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "MOST_DRAWS", 3)
    GridSum(np.zeros(3, dtype=np.int64), UNIT).with_noise(1.0, SeededBits(0))
    with pytest.raises(InvalidParameter, match="accounted for"):
        GridSum(np.zeros(4, dtype=np.int64), UNIT).with_noise(1.0, SeededBits(0))


@pytest.mark.parametrize("sigma", [-1.0, np.inf, np.nan, 1e-6])
def test_bad_noise_in_one_sentence(sigma: float) -> None:
    with pytest.raises(InvalidParameter, match=r"sigma must be"):
        GridSum(np.zeros(2, dtype=np.int64), UNIT).with_noise(sigma, SeededBits(0))
