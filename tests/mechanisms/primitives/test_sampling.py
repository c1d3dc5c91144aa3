from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from thorough import thorough

from privet.errors import InvalidData, OutOfRangeWarning
from privet.mechanisms import SeededBits
from privet.mechanisms.primitives.sampling import (
    as_matrix,
    gather,
    randomized_rounding,
    rounding_thresholds,
    sample_coordinates,
    unit_positions,
)


@given(st.integers(1, 40), st.integers(0, 10), st.data())
def test_samples_are_distinct_and_ascending(dimension: int, users: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, dimension))
    chosen = sample_coordinates(users, dimension, count, SeededBits(dimension))
    if count == dimension:
        assert chosen is None
        return
    assert chosen.shape == (users, count)
    assert (np.diff(chosen, axis=1) > 0).all()
    assert not users or (chosen.min() >= 0 and chosen.max() < dimension)


@pytest.mark.parametrize(("dimension", "count"), [(5, 1), (5, 2), (5, 3), (6, 5)])
def test_every_subset_is_equally_likely(dimension: int, count: int) -> None:
    """Chi-square with a fixed seed; another seed would fail with a chance of 1e-6."""
    chosen = sample_coordinates(30_000, dimension, count, SeededBits(1))
    counts = Counter(map(tuple, chosen.tolist()))
    assert stats.chisquare([counts[s] for s in combinations(range(dimension), count)]).pvalue > 1e-6


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 2**31))
def test_gather_agrees_between_dense_and_sparse(users: int, dimension: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(users, dimension)) * (rng.random((users, dimension)) < 0.4)
    chosen = sample_coordinates(users, dimension, int(rng.integers(1, dimension + 1)), SeededBits(seed))
    expected = dense if chosen is None else np.array([row[index] for row, index in zip(dense, chosen, strict=True)])
    assert (gather(dense, chosen) == expected).all()
    assert (gather(sp.csr_array(dense), chosen) == expected).all()


def test_positions_are_clipped_and_counted_on_the_device() -> None:
    low, high = np.array([0.0, -1.0]), np.array([1.0, 1.0])
    with pytest.warns(OutOfRangeWarning, match="3 of 6 values"):
        positions = unit_positions(np.array([[2.0, 0.0], [-5.0, 9.0], [0.5, 1.0]]), None, low, high)
    assert positions.tolist() == [[1.0, 0.5], [0.0, 1.0], [0.5, 1.0]]
    with pytest.warns(OutOfRangeWarning, match="1 of 1 values"):
        unit_positions(sp.csr_array([[0.0, np.inf]]), None, low, high)


def test_nan_and_wrong_shapes_are_refused_by_row() -> None:
    with pytest.raises(InvalidData, match="NaN in row 2"):
        as_matrix(np.array([[0.0], [1.0], [np.nan]]), 1, "MultiBit")
    with pytest.raises(InvalidData, match="NaN in row 1"):
        as_matrix(sp.csr_array([[0.0, 1.0], [np.nan, 1.0]]), 2, "MultiBit")
    with pytest.raises(InvalidData, match="matrix with 3 columns"):
        as_matrix(np.zeros((4, 2)), 3, "MultiBit")
    for strange in ([["a", "b"]], np.ones((1, 2)) * 1j, np.ma.masked_array([[1.0, 2.0]], mask=[[True, False]])):
        with pytest.raises(InvalidData, match="real numbers"):
            as_matrix(strange, 2, "MultiBit")


def test_duplicates_in_a_sparse_matrix_are_summed_without_touching_it() -> None:
    duplicated = sp.csr_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    assert as_matrix(duplicated, 1, "x").toarray().tolist() == [[3.0]]
    assert duplicated.nnz == 2


def test_rounding_keeps_the_mean() -> None:
    """Five standard deviations with a fixed seed; another seed would fail with a chance of 6e-7."""
    rounded = randomized_rounding(np.full(100_000, 0.3), 4, SeededBits(0))
    assert set(rounded.tolist()) == {1, 2}
    assert abs(rounded.mean() - 1.2) < 5 * 0.4 / np.sqrt(100_000)


@thorough
@given(st.floats(0.0, 1.0), st.integers(1, 1000))
def test_rounding_thresholds_are_within_the_grid(position: float, steps: int) -> None:
    whole, threshold = (int(v) for v in rounding_thresholds(position, steps))
    assert 0 <= whole <= steps
    assert 0 <= threshold < 1 << 53
    assert whole + threshold / 2**53 == pytest.approx(position * steps, abs=1e-9)
    assert whole < steps or threshold == 0
