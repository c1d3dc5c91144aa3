from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from privet.data import Graph, Population, social_graph, split_nodes
from privet.estimation.answers.scorers import unit_rows
from privet.mechanisms import SeededBits
from privet.systems.collected import labelled
from privet.systems.local.inquiry.sums import (
    ClassSums,
    class_sums_aggregate,
    class_sums_release,
    server_sums_aggregate,
    server_sums_of,
)


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


def test_sums_by_two_servers_are_those_of_labelled_people_with_the_noise_of_both(graph: Graph) -> None:
    """Chance of a false alarm for another seed: about 1 in 1,000 (a deviation of 600 draws)."""
    wanted = server_sums_of(2.0, Population.of(graph))
    people = np.flatnonzero(labelled(graph))
    exact = np.zeros((3, 10))
    np.add.at(exact, graph.labels[people], unit_rows(graph.features[people]).toarray())
    found = [ClassSums.by_two_servers(graph, 3, wanted, SeededBits(seed)) for seed in range(20)]
    errors = [each.sums - exact for each in found]
    assert found[0].counts.tolist() == np.bincount(graph.labels[people], minlength=3).tolist()
    assert found[0].noise == wanted.error / 255
    assert np.std(errors) == pytest.approx(found[0].noise, rel=0.1)
    rounding = max(found[0].counts) / 255  # every entry is rounded towards 0 by less than a step
    assert abs(np.mean(errors)) < rounding + 4 * found[0].noise / np.sqrt(20 * 30)


def test_features_that_are_never_negative_need_less_noise(graph: Graph) -> None:
    whole = Population.of(graph)
    assert min(whole.low) >= 0
    signed = whole.schema.numeric(10, low=-1.0, high=1.0, classes=3)
    less, more = server_sums_of(1.0, whole), server_sums_of(1.0, Population(signed, whole.num_nodes))
    assert more.error / less.error == pytest.approx(np.sqrt(2))
    assert less.guarantee().epsilon == more.guarantee().epsilon


def test_one_person_is_in_the_sum_of_one_class(graph: Graph) -> None:
    person = int(np.flatnonzero(labelled(graph))[0])
    features = sp.lil_array(graph.features * 1.0)
    features[person] = np.eye(10)[3]
    wanted = server_sums_of(2.0, Population.of(graph))
    before, after = (
        ClassSums.by_two_servers(each, 3, wanted, SeededBits(0)).sums
        for each in (graph, graph.replace(features=sp.csr_array(features)))
    )
    moved = after - before
    assert np.flatnonzero(np.abs(moved).max(axis=1) > 1e-6).tolist() == [graph.labels[person]]
    assert np.linalg.norm(moved) * 255 <= wanted.tally.change * (1 + 1e-9)


def test_the_line_of_sums_by_two_servers(graph: Graph) -> None:
    line = server_sums_aggregate(server_sums_of(1.0, Population.of(graph))).line()
    assert (line.part, line.unit) == ("class sums (two servers)", "feature vector")
    assert 0.999 < line.epsilon <= 1.0
    assert line.delta == 1 / 2000
