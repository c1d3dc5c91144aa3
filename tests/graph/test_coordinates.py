from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from privet.data import social_graph
from privet.graph import coordinates
from privet.graph.coordinates import random_coordinates, spectral_coordinates, standardised


def two_rings(size: int = 12) -> sp.csr_array:
    """Two rings without an edge between them."""
    ring = sp.csr_array((np.ones(size), (np.arange(size), (np.arange(size) + 1) % size)), shape=(size, size))
    return sp.csr_array(sp.block_diag([ring + ring.T, ring + ring.T]), dtype=np.float32)


@pytest.mark.parametrize("normalised", [False, True])
def test_sparse_search_finds_what_the_whole_spectrum_holds(normalised: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    adjacency = social_graph(200, classes=3, average_degree=12, homophily=0.9, seed=0).adjacency
    dense = spectral_coordinates(adjacency, 4, normalised=normalised)
    monkeypatch.setattr(coordinates, "_DENSE", 10)
    sparse = spectral_coordinates(adjacency, 4, normalised=normalised)
    assert dense.shape == sparse.shape == (200, 4)
    assert dense.dtype == sparse.dtype == np.float32
    overlap = np.abs(dense.T @ sparse) / 200  # columns have length sqrt(N); order and sign are free
    np.testing.assert_allclose(overlap.max(axis=0), 1.0, atol=0.02)


def test_eigenvectors_are_those_of_the_adjacency() -> None:
    adjacency = social_graph(80, classes=2, average_degree=8, seed=1).adjacency
    values, vectors = np.linalg.eigh(adjacency.toarray().astype(float))
    largest = np.argsort(-np.abs(values))[:3]
    np.testing.assert_allclose(
        np.abs(spectral_coordinates(adjacency, 3)), np.abs(standardised(vectors[:, largest])), atol=1e-3
    )


def test_components_have_coordinates_of_their_own() -> None:
    found = spectral_coordinates(two_rings(), 2, normalised=True)
    halves = np.repeat([0, 1], 12)
    spread = max(found[halves == half].std(axis=0).max() for half in (0, 1))
    assert spread < 1e-3  # both leading eigenvectors are constant on a ring
    assert np.abs(found[0] - found[12]).max() > 1


@pytest.mark.parametrize("normalised", [False, True])
def test_graphs_that_are_too_small_or_empty_have_none(normalised: bool) -> None:
    assert spectral_coordinates(sp.csr_array((5, 5)), normalised=normalised).shape == (5, 0)
    assert spectral_coordinates(sp.csr_array(np.ones((2, 2)) - np.eye(2)), normalised=normalised).shape == (2, 0)
    assert spectral_coordinates(two_rings(3), 64, normalised=normalised).shape == (6, 4)


def test_random_columns_are_hops_of_the_same_noise() -> None:
    adjacency = two_rings()
    found = random_coordinates(adjacency, 5, (1, 3), seed=4)
    assert found.shape == (24, 10)
    operator = adjacency.toarray() / 2  # every degree is 2
    columns = np.random.default_rng(4).standard_normal((24, 5), dtype=np.float32)
    for place, hops in ((slice(0, 5), 1), (slice(5, 10), 3)):
        expected = np.linalg.matrix_power(operator, hops) @ columns
        expected *= np.sqrt(5) / np.linalg.norm(expected, axis=1, keepdims=True)
        np.testing.assert_allclose(found[:, place], expected, atol=1e-4)
    assert np.array_equal(found, random_coordinates(adjacency, 5, (1, 3), seed=4))
    assert not np.array_equal(found, random_coordinates(adjacency, 5, (1, 3), seed=5))


def test_people_without_neighbours_stay_at_the_origin() -> None:
    assert not random_coordinates(sp.csr_array((4, 4)), 3).any()


def test_columns_are_standardised_and_constant_ones_are_zero() -> None:
    found = standardised(np.array([[1.0, 7.0], [3.0, 7.0], [5.0, 7.0]]))
    np.testing.assert_allclose(found[:, 0], [-1.2247449, 0.0, 1.2247449], rtol=1e-6)
    assert not found[:, 1].any()
