from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thorough import thorough

from privet.errors import InvalidParameter
from privet.mechanisms import (
    AdjacencyResponse,
    Counts,
    MultiBit,
    NeighbourReports,
    OfferedResponse,
    RandomizedResponse,
    Reports,
    SampledResponse,
    SeededBits,
)
from privet.mechanisms.core.base import Mechanism
from privet.mechanisms.core.extremes import influence_of, random_lists, strongest_symbols
from privet.testing.mechanisms import check_influence

COUNTS = Counts(epsilon=1.0, classes=3, cap=4)


def test_the_strongest_counts_are_the_ends_of_the_alphabet() -> None:
    honest = COUNTS.perturb(np.array([[1, 2, 0], [0, 0, 4]]), SeededBits(0))
    found = COUNTS.strongest(np.array([[1.0, -1.0, 1.0], [-1.0, 1.0, -1.0]]), honest)
    assert found.symbols.tolist() == [[4, 0, 4], [0, 4, 0]]


def test_the_strongest_bit_is_where_it_moves_most() -> None:
    mechanism = MultiBit(epsilon=1.0, dimension=4, low=0.0, high=(1.0, 1.0, 9.0, 1.0))
    honest = mechanism.perturb(np.zeros((2, 4)), SeededBits(0))
    found = mechanism.strongest(np.array([[1.0, 0.0, -0.5, 0.0], [0.0, 1.0, 0.0, 0.0]]), honest)
    assert found.coordinates.tolist() == [[2], [1]]
    assert found.symbols.tolist() == [[-1], [1]]


def test_a_category_is_chosen_with_its_feature() -> None:
    mechanism = SampledResponse.declare
    response = SampledResponse(epsilon_per_feature=1.0, categories=(2, 3), sample=1, fill="none")
    honest = response.perturb(np.zeros((1, 2)), SeededBits(0))
    found = response.strongest(np.array([[0.0, 0.1, 0.0, 0.0, 2.0]]), honest)
    assert (found.coordinates.tolist(), found.symbols.tolist()) == ([[1]], [[2]])
    assert mechanism is not None


def test_offered_options_and_senders_are_kept() -> None:
    response = OfferedResponse(epsilon=1.0, most=4)
    honest = response.perturb(np.array([[0, 2], [0, 4]]), SeededBits(0))
    positions, options = response.decode(response.strongest(np.array([[0.0, 1.0, 5.0, 9.0]] * 2), honest))
    assert (positions.tolist(), options.tolist()) == ([1, 3], [2, 4])
    lists = AdjacencyResponse(epsilon=1.0, num_nodes=5, one_sided=True)
    told = lists.perturb(np.zeros((2, 5)), SeededBits(0), users=np.array([1, 3]))
    named = lists.strongest(np.ones((2, 5)), told)
    assert named.indices.tolist() == [2, 3, 4, 4]
    assert named.users.tolist() == [1, 3]


@thorough
@given(st.integers(2, 30), st.integers(0, 2**31), st.booleans())
def test_random_lists_keep_lengths_and_name_others(nodes: int, seed: int, one_sided: bool) -> None:
    rng = np.random.default_rng(seed)
    matrix = np.triu(rng.random((nodes, nodes)) < 0.4, 1)
    mechanism = AdjacencyResponse(epsilon=2.0, num_nodes=nodes, one_sided=one_sided)
    honest = mechanism.perturb((matrix | matrix.T).astype(float), SeededBits(seed))
    drawn = mechanism.validate(mechanism.uniform(honest, SeededBits(seed)))
    assert np.array_equal(np.diff(drawn.indptr), np.diff(honest.indptr))


def test_random_lists_are_uniform() -> None:
    """A correct program fails with a probability below 1e-6: every count is within 6 deviations."""
    lists = NeighbourReports(5, np.arange(0, 4001, 2), np.tile([1, 2], 2000).astype(np.int32), np.zeros(2000, np.int64))
    counts = np.bincount(random_lists(lists, np.zeros(2000, np.int64), SeededBits(0)).indices, minlength=5)
    assert counts[0] == 0
    assert np.abs(counts[1:] - 1000).max() < 6 * np.sqrt(2000 * 0.25)


def test_a_sampled_report_must_state_its_own() -> None:
    mechanism = MultiBit(epsilon=1.0, dimension=4, low=0.0, high=1.0)
    honest = mechanism.perturb(np.zeros((2, 4)), SeededBits(0))
    with pytest.raises(InvalidParameter, match="strongest method of its own"):
        strongest_symbols(mechanism, np.ones((2, 4)), honest)


def test_influence_is_the_width_of_the_readings() -> None:
    assert RandomizedResponse(epsilon=1.0, classes=3).influence() == pytest.approx((np.e + 2) / (np.e - 1), rel=1e-6)
    assert COUNTS.influence() == pytest.approx(4 + 2 / (np.e - 1), rel=1e-6)
    honest = COUNTS.perturb(np.zeros((1, 3), dtype=np.int64), SeededBits(0))
    assert influence_of(COUNTS, honest) == COUNTS.influence()


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_wrong_influence_is_found(factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Mechanism.influence
    monkeypatch.setattr(Mechanism, "influence", lambda self: factor * right(self))
    with pytest.raises(AssertionError, match="moves an estimate"):
        check_influence(COUNTS, np.zeros((3, 3), dtype=np.int64))


def test_a_weak_lie_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Counts, "influence", lambda self: COUNTS.cap + 2 / np.expm1(1.0), raising=False)
    monkeypatch.setattr(Mechanism, "strongest", lambda self, directions, reports: reports)
    with pytest.raises(AssertionError, match="further than its strongest"):
        check_influence(COUNTS, np.zeros((3, 3), dtype=np.int64))


def test_uniform_symbols_come_from_the_whole_alphabet() -> None:
    honest = Reports(3, np.zeros((3000, 3), dtype=np.int8))
    counts = np.bincount(COUNTS.uniform(honest, SeededBits(1)).symbols.ravel(), minlength=5)
    assert np.abs(counts - 1800).max() < 6 * np.sqrt(9000 * 0.16)  # six deviations
