from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from privet.estimation.resistant import bounded_influence, bounded_lists, scaled_rows, trimmed_means
from privet.mechanisms import MultiBit, NeighbourReports, SeededBits


@given(st.integers(1, 25), st.integers(0, 2**31), st.sampled_from([0.05, 0.1, 0.3, 0.49]))
def test_trimmed_means_equal_a_slow_reference(nodes: int, seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    adjacency = sp.csr_array((rng.random((nodes, nodes)) < 0.5).astype(float))
    values = rng.integers(-3, 4, size=(nodes, 2)).astype(float)
    expected = np.zeros((nodes, 2))
    for row in range(nodes):
        near = np.sort(values[adjacency[[row]].indices], axis=0)
        cut = min(int(np.ceil(share * len(near))), (len(near) - 1) // 2) if len(near) >= 3 else 0
        if len(near):
            expected[row] = near[cut : len(near) - cut].mean(axis=0)
    np.testing.assert_allclose(trimmed_means(adjacency, values, share), expected, atol=1e-12)


def test_one_liar_of_ten_cannot_leave_the_range_of_the_others() -> None:
    star = sp.csr_array((np.ones(10), (np.zeros(10, int), np.arange(1, 11))), shape=(11, 11))
    values = np.linspace(0, 1, 11)[:, None].copy()
    values[10] = 1e6
    assert trimmed_means(star, values)[0, 0] <= 1.0


def test_nobody_counts_for_more_than_the_bound() -> None:
    star = sp.csr_array((np.ones(10), (np.arange(1, 11), np.zeros(10, int))), shape=(11, 11))
    factors = bounded_influence(star, most=2.0)
    influence = np.asarray(star.sum(axis=0)).ravel()
    assert (factors * influence <= 2 * influence.mean() + 1e-9).all()
    assert factors[1:].tolist() == [1.0] * 10


def test_a_factor_of_zero_is_a_report_that_says_nothing() -> None:
    mechanism = MultiBit(epsilon=1.0, dimension=3, low=0.0, high=1.0)
    estimate = mechanism.estimate(mechanism.perturb(np.ones((4, 3)), SeededBits(0)))
    found = scaled_rows(estimate, np.array([0.0, 1.0, 1.0, 0.5])).dense()
    assert found[0].tolist() == [0.5] * 3
    np.testing.assert_allclose(found[1:3], estimate.dense()[1:3])


def test_long_lists_are_thinned() -> None:
    lists = sp.lil_array((60, 60))
    for row in range(1, 60):
        lists[row, (row + 1) % 60] = lists[row, (row + 2) % 60] = 1
    lists[0, 1:] = 1
    reports = NeighbourReports(60, lists.tocsr().indptr.astype(np.int64), lists.tocsr().indices.astype(np.int32))
    found = bounded_lists(reports, 0)
    assert np.diff(found.indptr)[0] == 32
    assert np.diff(found.indptr)[1:].tolist() == [2] * 59
    assert set(found.indices[:32].tolist()) <= set(range(1, 60))
    assert bounded_lists(reports, 0) == found


@pytest.mark.parametrize("nodes", [0, 1])
def test_nobody_and_nothing(nodes: int) -> None:
    empty = sp.csr_array((nodes, nodes))
    assert trimmed_means(empty, np.zeros((nodes, 2))).shape == (nodes, 2)
    reports = NeighbourReports(nodes, np.zeros(nodes + 1, np.int64), np.zeros(0, np.int32))
    assert len(bounded_lists(reports, 0)) == nodes
