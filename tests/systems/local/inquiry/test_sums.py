from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from privet.data import Graph, social_graph, split_nodes
from privet.estimation.answers.scorers import unit_rows
from privet.mechanisms import SeededBits
from privet.systems.collected import labelled
from privet.systems.local.inquiry.sums import ClassSums, class_sums_aggregate, class_sums_release


@pytest.fixture(scope="module")
def graph() -> Graph:
    graph = social_graph(200, classes=3, average_degree=8, features=10, seed=0)
    return graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))


def test_class_sums_are_those_of_labelled_people_and_noise(graph: Graph) -> None:
    release = class_sums_release(2.0, 200)
    people = np.flatnonzero(labelled(graph))
    exact = np.zeros((3, 10))
    np.add.at(exact, graph.labels[people], unit_rows(graph.features[people]).toarray())
    errors = []
    for seed in range(40):
        found = ClassSums.of(graph, 3, release, SeededBits(seed))
        errors.append(found.sums - exact)
        assert found.counts.tolist() == np.bincount(graph.labels[people], minlength=3).tolist()
    assert np.std(errors) == pytest.approx(2 * release.noise_multiplier, rel=0.1)  # exchanged vectors are 2 apart
    assert found.noise == 2 * release.noise_multiplier
    assert abs(np.mean(errors)) < 4 * found.noise / np.sqrt(40 * 30)


def test_one_person_moves_one_sum_by_a_vector_of_length_one_at_most(graph: Graph) -> None:
    """The same noise with and without a person: the difference is what the promise must cover."""
    person = int(np.flatnonzero(labelled(graph))[0])
    scaled = sp.csr_array(graph.features * 1.0)
    scaled.data[scaled.indptr[person] : scaled.indptr[person + 1]] *= 1.0
    gone = sp.csr_array(scaled.copy())
    gone.data[gone.indptr[person] : gone.indptr[person + 1]] = 0
    release = class_sums_release(2.0, 200)
    with_, without = (
        ClassSums.of(graph.replace(features=each), 3, release, SeededBits(0)).sums for each in (scaled, gone)
    )
    moved = with_ - without
    assert np.flatnonzero(np.abs(moved).max(axis=1) > 1e-6).tolist() == [graph.labels[person]]
    assert np.linalg.norm(moved) <= 1 + 1e-6


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_the_noise_of_class_sums_is_calibrated(epsilon: float) -> None:
    line = class_sums_aggregate(class_sums_release(epsilon, 1000)).line()
    assert epsilon * 0.999 < line.epsilon <= epsilon
    assert line.unit == "feature vector"
    assert 0 < line.delta < 1e-3
