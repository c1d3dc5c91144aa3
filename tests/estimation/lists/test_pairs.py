"""Lists that were not sent are not lists of zeros: counts over the pairs that were asked about, against full ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.data import social_graph
from privet.errors import InvalidReports
from privet.estimation.lists.beliefs import class_affinity
from privet.estimation.lists.closure import closure_log_odds, common_neighbours, estimated_degrees
from privet.estimation.lists.pairs import ReportedPairs, noisy_graph
from privet.mechanisms import AdjacencyResponse, NeighbourReports, SeededBits


def some_lists(
    nodes: int, rate: float, one_sided: bool, seed: int, epsilon: float = 1.5
) -> tuple[NeighbourReports, AdjacencyResponse, np.ndarray]:
    """The lists of some nodes, in any order, and the true adjacency."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((nodes, nodes)) < 0.3, 1)
    adjacency = (upper | upper.T).astype(float)
    mechanism = AdjacencyResponse(epsilon=epsilon, num_nodes=nodes, one_sided=one_sided)
    users = rng.permutation(np.flatnonzero(rng.random(nodes) < rate))
    return mechanism.perturb(adjacency[users], SeededBits(seed), users=users), mechanism, adjacency


def users_of(reports: NeighbourReports) -> np.ndarray:
    """The senders of the lists; everybody where the reports name none."""
    return np.arange(reports.num_nodes) if reports.users is None else reports.users


def asks_of(pairs: ReportedPairs, nodes: int, users: np.ndarray) -> np.ndarray:
    """How many reports of each pair i < j arrived, by looking at each."""
    return np.array(
        [[(i in users) + (pairs.asked == 2 and j in users) if i < j else 0 for j in range(nodes)] for i in range(nodes)]
    )


@given(st.integers(2, 10), st.floats(0, 1), st.booleans(), st.integers(0, 60))
def test_only_what_was_asked_is_counted(nodes: int, rate: float, one_sided: bool, seed: int) -> None:
    reports, mechanism, _ = some_lists(nodes, rate, one_sided, seed)
    pairs = ReportedPairs.from_reports(reports, mechanism, some=True)
    asks = asks_of(pairs, nodes, users_of(reports))
    assert pairs.num_pairs == (asks > 0).sum()
    assert np.array_equal(pairs.asks, asks[pairs.sources, pairs.targets])
    ayes = np.zeros((nodes, nodes))
    for row, user in enumerate(users_of(reports)):
        for other in reports.indices[reports.indptr[row] : reports.indptr[row + 1]]:
            ayes[min(user, other), max(user, other)] += 1
    assert np.array_equal(pairs.ayes, ayes[pairs.sources, pairs.targets])
    assert len(pairs) == (ayes > 0).sum()
    assert np.array_equal(pairs.unanimous, pairs.ayes == asks[pairs.sources, pairs.targets])
    groups = np.random.default_rng(seed).integers(-1, 3, size=nodes)
    expected = np.zeros((3, 3))
    for i, j in zip(*np.nonzero(asks), strict=True):
        if min(groups[i], groups[j]) >= 0:
            expected[groups[i], groups[j]] += 0.5
            expected[groups[j], groups[i]] += 0.5
    assert np.array_equal(pairs.pairs_between(groups, 3), expected)


@given(st.integers(3, 16), st.booleans(), st.integers(0, 60))
def test_kinds_count_the_pairs_that_were_asked_about(nodes: int, one_sided: bool, seed: int) -> None:
    reports, mechanism, _ = some_lists(nodes, 0.6, one_sided, seed)
    pairs = ReportedPairs.from_reports(reports, mechanism, some=True)
    groups = np.random.default_rng(seed).integers(4, size=nodes)
    common, sizes = common_neighbours(pairs, groups)
    asks = asks_of(pairs, nodes, users_of(reports))
    graph = pairs.adjacency(pairs.unanimous.astype(float)).toarray()
    squared = np.minimum(graph @ graph, 4).astype(int)
    expected = np.zeros((5, 4, 4))
    for i, j in zip(*np.nonzero(asks), strict=True):
        expected[squared[i, j], min(groups[i], groups[j]), max(groups[i], groups[j])] += 1
    assert np.array_equal(common, squared[pairs.sources, pairs.targets])
    assert np.array_equal(sizes, expected)


@pytest.mark.parametrize("one_sided", [True, False])
def test_density_and_noise_are_unbiased_whoever_answers(one_sided: bool) -> None:
    """Means of 300 collections within 5 standard errors: a chance below 1e-5 to fail for other seeds.

    With silent nodes taken for nodes of empty lists the density would come out at about half.
    """
    nodes = 60
    rng = np.random.default_rng(3)
    upper = np.triu(rng.random((nodes, nodes)) < 0.1, 1)
    adjacency = (upper | upper.T).astype(float)
    users = np.flatnonzero(rng.random(nodes) < 0.5)
    mechanism = AdjacencyResponse(epsilon=3.0, num_nodes=nodes, one_sided=one_sided)
    edges, noise = [], []
    for seed in range(300):
        reports = mechanism.perturb(adjacency[users], SeededBits(seed), users=users)
        pairs = ReportedPairs.from_reports(reports, mechanism, some=True)
        edges.append(pairs.num_edges)
        noise.append(pairs.expected_noise - (adjacency[pairs.sources, pairs.targets] == 0).sum())
    asked = np.triu(
        np.isin(np.arange(nodes), users)[:, None] | (~np.array(one_sided) & np.isin(np.arange(nodes), users)), 1
    )
    true = (adjacency * asked).sum()
    assert abs(np.mean(edges) - true) < 5 * np.std(edges) / np.sqrt(300)
    # Edges may be spread unevenly over pairs of one and of two reports, which the noise's formula does not know.
    assert abs(np.mean(noise)) < 5 * np.std(noise) / np.sqrt(300) + 0.01 * pairs.num_pairs * pairs.flip
    assert len(users) < 40


@pytest.mark.parametrize("one_sided", [True, False])
def test_a_pair_with_one_report_is_judged_by_one(one_sided: bool) -> None:
    """Bayes' rule with the likelihoods of the reports that arrived, written out."""
    reports, mechanism, _ = some_lists(20, 0.5, one_sided, 1)
    pairs = ReportedPairs.from_reports(reports, mechanism, some=True)
    q, a = mechanism.flip, pairs.ayes
    k = asks_of(pairs, 20, reports.users)[pairs.sources, pairs.targets]
    assert set(k) == ({1} if one_sided else {1, 2})
    edge, none = 0.2 * (1 - q) ** a * q ** (k - a), 0.8 * q**a * (1 - q) ** (k - a)
    assert np.allclose(pairs.posterior(np.log(0.2 / 0.8)), edge / (edge + none))


@pytest.mark.parametrize("one_sided", [True, False])
def test_if_everybody_answers_nothing_changes(one_sided: bool) -> None:
    reports, mechanism, _ = some_lists(30, 1.0, one_sided, 4)
    one = ReportedPairs.from_reports(reports, mechanism)
    two = ReportedPairs.from_reports(reports, mechanism, some=True)
    assert two.answered is None
    degrees = estimated_degrees(one)
    assert np.array_equal(closure_log_odds(one, *degrees), closure_log_odds(two, *estimated_degrees(two)))


@pytest.mark.parametrize("one_sided", [True, False])
def test_degrees_of_the_silent_are_scaled_to_all_pairs(one_sided: bool) -> None:
    """The same nodes, when half of them answer: degrees keep their level, with and without an own list."""
    graph = social_graph(1_500, average_degree=12, features=0, seed=1)
    mechanism = AdjacencyResponse(epsilon=6.0, num_nodes=1_500, one_sided=one_sided)
    users = np.flatnonzero(np.random.default_rng(0).random(1_500) < 0.5)
    reports = mechanism.perturb(graph.adjacency[users], SeededBits(0), users=users)
    pairs = ReportedPairs.from_reports(reports, mechanism, some=True)
    degrees, steps = estimated_degrees(pairs)
    silent = np.ones(1_500, dtype=bool)
    silent[users] = False
    tail = np.arange(1_500) > 300  # of the first ids hardly anybody was asked if they are silent and lists one-sided
    for group in (silent & tail, ~silent & tail):
        assert abs(degrees[group].mean() / graph.degrees[group].mean() - 1) < 0.1
        assert np.corrcoef(degrees[group], graph.degrees[group])[0, 1] > 0.5
    ayes = pairs.ayes.copy()
    ayes[7] += 1
    after, _ = estimated_degrees(replace(pairs, ayes=ayes))
    ends = [pairs.sources[7], pairs.targets[7]]
    assert np.allclose((after - degrees)[ends], [step[7] for step in steps], atol=0.05)
    assert np.isfinite(closure_log_odds(pairs, degrees, steps)).all()


@pytest.mark.parametrize("rate", [0.0, 0.2])
@pytest.mark.parametrize("one_sided", [True, False])
def test_a_silent_class_is_not_a_class_of_strangers(one_sided: bool, rate: float) -> None:
    """Classes do not matter to who knows whom, but hardly anybody of one of them answers."""
    nodes, classes = 400, 2
    graph = social_graph(nodes, classes=classes, average_degree=16, homophily=0.5, features=0, seed=2)
    mechanism = AdjacencyResponse(epsilon=5.0, num_nodes=nodes, one_sided=one_sided)
    rng = np.random.default_rng(0)
    users = np.flatnonzero((graph.labels == 0) | (rng.random(nodes) < rate))
    reports = mechanism.perturb(graph.adjacency[users], SeededBits(0), users=users)
    affinity = class_affinity(ReportedPairs.from_reports(reports, mechanism, some=True), graph.labels, classes)
    assert np.abs(affinity - 1).max() < 0.2


@pytest.mark.parametrize("rule", ["directed", "intersection", "posterior", "union"])
def test_every_rule_makes_a_graph_of_some_lists(rule: str) -> None:
    reports, mechanism, _ = some_lists(12, 0.5, False, 0)
    pairs = ReportedPairs.from_reports(reports, mechanism, some=True)
    graph = noisy_graph(pairs, reports, rule).toarray()
    lists = np.zeros((12, 12))
    lists[reports.users] = reports.to_sparse().toarray()
    heard = np.isin(np.arange(12), reports.users)
    agreed = (lists + lists.T) == heard[:, None].astype(int) + heard
    expected = {
        "directed": lists,
        "union": np.maximum(lists, lists.T),
        "intersection": np.maximum(lists, lists.T) * agreed,
    }
    if rule in expected:
        assert np.array_equal(graph, expected[rule])
    else:
        assert np.array_equal(graph > 0, expected["union"] > 0)


def test_two_lists_of_one_node_are_refused() -> None:
    mechanism = AdjacencyResponse(epsilon=1.0, num_nodes=3)
    reports = NeighbourReports(3, np.array([0, 1, 1]), np.array([1], dtype=np.int32), np.array([0, 0]))
    with pytest.raises(InvalidReports, match="two from node 0"):
        ReportedPairs.from_reports(reports, mechanism, some=True)


def test_lengths_of_some_lists_are_refused() -> None:
    reports, mechanism, _ = some_lists(12, 0.5, False, 0)
    pairs = ReportedPairs.from_reports(reports, mechanism, some=True)
    with pytest.raises(InvalidReports, match="only if every list arrived"):
        estimated_degrees(pairs, np.ones(12), 1.0)
