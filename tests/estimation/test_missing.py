"""Completed features against a slow reference that walks from node to node."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import InvalidData
from privet.estimation import complete_from_neighbours, report_distances
from privet.mechanisms import AffineFeatures


def a_study(nodes: int, density: float, rate: float, seed: int) -> tuple[AffineFeatures, np.ndarray, np.ndarray]:
    """Reports of some nodes in any order, and a weighted graph."""
    rng = np.random.default_rng(seed)
    upper = np.triu((rng.random((nodes, nodes)) < density) * rng.uniform(0.1, 1.0, (nodes, nodes)), 1)
    respondents = rng.permutation(np.flatnonzero(rng.random(nodes) < rate))
    if not len(respondents):
        respondents = np.array([0])
    shape = (len(respondents), 5)
    symbols = sp.csr_array((rng.random(shape) < 0.4) * rng.choice([-1.0, 1.0], shape))
    return AffineFeatures(symbols, rng.uniform(1, 2, 5), rng.uniform(-1, 1, 5)), respondents, upper + upper.T


def walked(reports: np.ndarray, respondents: np.ndarray, weights: np.ndarray, rounds: int) -> tuple[np.ndarray, list]:
    rows = {int(node): reports[i] for i, node in enumerate(respondents)}
    distances = dict.fromkeys(rows, 0)
    for distance in range(1, rounds + 1):
        found = {}
        for node in range(len(weights)):
            near = [other for other in rows if weights[node, other] > 0]
            if node not in rows and near:
                found[node] = np.average([rows[other] for other in near], axis=0, weights=weights[node, near])
        rows |= found
        distances |= dict.fromkeys(found, distance)
    everybody = range(len(weights))
    mean = reports.mean(axis=0)
    return np.stack([rows.get(node, mean) for node in everybody]), [distances.get(node, -1) for node in everybody]


@given(st.integers(1, 14), st.sampled_from([0.05, 0.15, 0.5]), st.sampled_from([0.1, 0.5, 0.9]), st.integers(0, 60))
def test_rows_are_the_means_of_the_nearest_reports(nodes: int, density: float, rate: float, seed: int) -> None:
    estimate, respondents, weights = a_study(nodes, density, rate, seed)
    for rounds in (1, 3):
        found = complete_from_neighbours(estimate, respondents, sp.csr_array(weights), rounds=rounds)
        rows, distances = walked(estimate.dense(), respondents, weights, rounds)
        assert found.distances.tolist() == distances
        assert np.allclose(found.features.dense(), rows)
        assert report_distances(respondents, sp.csr_array(weights), rounds=rounds).tolist() == distances


@given(st.integers(2, 14), st.integers(0, 60))
def test_respondents_keep_their_reports_to_the_bit(nodes: int, seed: int) -> None:
    estimate, respondents, weights = a_study(nodes, 0.3, 0.6, seed)
    found = complete_from_neighbours(estimate, respondents, sp.csr_array(weights)).features
    assert np.array_equal(found.dense()[respondents], estimate.dense())


def test_silence_is_neither_zero_nor_the_middle_of_the_range() -> None:
    """Everybody who answers has the largest value: so has, for all that is known, everybody else."""
    estimate = AffineFeatures(sp.csr_array(np.ones((3, 2))), np.full(2, 4.0), np.full(2, 5.0))
    path = sp.diags_array(np.ones(9), offsets=1, shape=(10, 10))
    for rounds in (1, 8):  # with one round most are beyond reach
        found = complete_from_neighbours(estimate, np.array([0, 1, 2]), sp.csr_array(path + path.T), rounds=rounds)
        assert (found.features.dense() == 9.0).all()


def test_what_is_not_stored_stays_unstored() -> None:
    """A mean over a few neighbours has the coordinates that they reported and no others."""
    rng = np.random.default_rng(0)
    nodes, width = 2_000, 5_000
    symbols = sp.csr_array((np.ones(1_000), (np.arange(1_000), rng.integers(width, size=1_000))), shape=(1_000, width))
    ring = sp.diags_array([np.ones(nodes - 1), np.ones(1)], offsets=[1, 1 - nodes], shape=(nodes, nodes))
    estimate = AffineFeatures(symbols, np.ones(width), np.zeros(width))
    found = complete_from_neighbours(estimate, np.arange(0, nodes, 2), sp.csr_array(ring + ring.T))
    assert found.features.symbols.nnz <= 3 * symbols.nnz


@pytest.mark.parametrize(
    ("respondents", "message"),
    [([0], "one node for each of 2 reports"), ([0, 7], "7 in row 1"), ([1, 1], "node 1 twice")],
)
def test_impossible_respondents_are_refused(respondents: list[int], message: str) -> None:
    estimate = AffineFeatures(sp.csr_array(np.ones((2, 1))), np.ones(1), np.zeros(1))
    with pytest.raises(InvalidData, match=message):
        complete_from_neighbours(estimate, np.array(respondents), sp.csr_array((3, 3)))


def test_a_study_without_any_report_is_refused() -> None:
    estimate = AffineFeatures(sp.csr_array((0, 1)), np.ones(1), np.zeros(1))
    with pytest.raises(InvalidData, match="Nobody answered"):
        complete_from_neighbours(estimate, np.zeros(0, dtype=np.int64), sp.csr_array((3, 3)))
