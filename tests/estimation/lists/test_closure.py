"""Reported pairs and their posteriors against dense references and simulations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from privet.data import social_graph
from privet.errors import InvalidReports
from privet.estimation.lists import closure as structure
from privet.estimation.lists.closure import (
    ReportedPairs,
    closure_log_odds,
    common_neighbours,
    estimated_degrees,
    noisy_graph,
)
from privet.mechanisms import AdjacencyResponse, NeighbourReports, SeededBits

RULES = ("directed", "intersection", "posterior", "union")


def random_adjacency(nodes: int, density: float, seed: int) -> np.ndarray:
    upper = np.triu(np.random.default_rng(seed).random((nodes, nodes)) < density, 1)
    return (upper | upper.T).astype(float)


def collect(
    adjacency: object, epsilon: float, one_sided: bool, seed: int = 0
) -> tuple[NeighbourReports, AdjacencyResponse]:
    mechanism = AdjacencyResponse(epsilon=epsilon, num_nodes=adjacency.shape[0], one_sided=one_sided)
    return mechanism.perturb(adjacency, SeededBits(seed)), mechanism


def a_graph_with_triangles(nodes: int = 600, seed: int = 0) -> sp.csr_array:
    """Cliques of five, and as many random edges as there are nodes."""
    rng = np.random.default_rng(seed)
    group = np.arange(nodes) // 5
    same = sp.csr_array((group[:, None] == group[None, :]).astype(float))
    extra = sp.coo_array((np.ones(nodes), rng.integers(nodes, size=(2, nodes))), shape=(nodes, nodes)).tocsr()
    joined = sp.csr_array(same + extra + extra.T)
    joined.setdiag(0)
    joined.eliminate_zeros()
    joined.data[:] = 1.0
    return joined


@given(st.integers(2, 12), st.booleans(), st.integers(0, 50))
def test_pairs_hold_the_ayes_of_both_ends(nodes: int, one_sided: bool, seed: int) -> None:
    reports, mechanism = collect(random_adjacency(nodes, 0.4, seed), 1.0, one_sided, seed)
    pairs = ReportedPairs.from_reports(reports, mechanism)
    dense = reports.to_sparse().toarray()
    ayes = np.triu(dense + dense.T, 1)
    found = np.zeros((nodes, nodes))
    found[pairs.sources, pairs.targets] = pairs.ayes
    assert np.array_equal(found, ayes)
    assert (pairs.sources < pairs.targets).all()
    assert pairs.asked == (1 if one_sided else 2)


@given(st.integers(2, 12), st.integers(0, 50))
def test_the_rules_of_symmetrisation(nodes: int, seed: int) -> None:
    reports, mechanism = collect(random_adjacency(nodes, 0.4, seed), 1.0, False, seed)
    pairs = ReportedPairs.from_reports(reports, mechanism)
    dense = reports.to_sparse().toarray()
    graphs = {rule: noisy_graph(pairs, reports, rule).toarray() for rule in RULES}
    assert np.array_equal(graphs["directed"], dense)
    assert np.array_equal(graphs["union"], np.maximum(dense, dense.T))
    assert np.array_equal(graphs["intersection"], dense * dense.T)
    weights = graphs["posterior"]
    assert np.array_equal(weights, weights.T)
    assert np.array_equal(weights > 0, graphs["union"] > 0)
    if (graphs["intersection"] > 0).any() and (graphs["union"] > graphs["intersection"]).any():
        unanimous, single = graphs["intersection"] > 0, graphs["union"] > graphs["intersection"]
        assert weights[unanimous].min() > weights[single].max()


@pytest.mark.parametrize("one_sided", [True, False])
def test_the_posterior_is_bayes_rule(one_sided: bool) -> None:
    """Against the two likelihoods written out, for a prior of 0.2."""
    reports, mechanism = collect(random_adjacency(20, 0.2, 1), 1.5, one_sided)
    pairs = ReportedPairs.from_reports(reports, mechanism)
    q, k, a = mechanism.flip, pairs.asked, pairs.ayes
    edge, none = 0.2 * (1 - q) ** a * q ** (k - a), 0.8 * q**a * (1 - q) ** (k - a)
    assert np.allclose(pairs.posterior(np.log(0.2 / 0.8)), edge / (edge + none))


@pytest.mark.parametrize("one_sided", [True, False])
def test_the_counts_are_unbiased(one_sided: bool) -> None:
    """Means of 200 collections within 5 standard errors: a chance below 1e-5 to fail for other seeds."""
    adjacency = random_adjacency(60, 0.1, 3)
    edges, noise = [], []
    for seed in range(200):
        reports, mechanism = collect(adjacency, 3.0, one_sided, seed)
        pairs = ReportedPairs.from_reports(reports, mechanism)
        edges.append(pairs.num_edges)
        true = adjacency[pairs.sources, pairs.targets] > 0
        noise.append(pairs.expected_noise - (~true).sum())
    assert abs(np.mean(edges) - adjacency.sum() / 2) < 5 * np.std(edges) / np.sqrt(200)
    assert abs(np.mean(noise)) < 5 * np.std(noise) / np.sqrt(200)


@given(st.integers(4, 30), st.booleans(), st.integers(0, 50), st.integers(1, 40))
def test_common_neighbours_are_those_of_the_dense_square(nodes: int, one_sided: bool, seed: int, block: int) -> None:
    """In blocks of any size, over all pairs and not only over the reported ones."""
    reports, mechanism = collect(random_adjacency(nodes, 0.3, seed), 2.0, one_sided, seed)
    pairs = ReportedPairs.from_reports(reports, mechanism)
    groups = np.random.default_rng(seed).integers(4, size=nodes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(structure, "_BLOCK", block)
        common, sizes = common_neighbours(pairs, groups)
    dense = reports.to_sparse().toarray()
    unanimous = np.maximum(dense, dense.T) if one_sided else dense * dense.T
    squared = np.minimum(unanimous @ unanimous, 4).astype(int)
    expected = np.zeros((5, 4, 4))
    for i in range(nodes):
        for j in range(i + 1, nodes):
            expected[squared[i, j], min(groups[i], groups[j]), max(groups[i], groups[j])] += 1
    assert np.array_equal(common, squared[pairs.sources, pairs.targets])
    assert np.array_equal(sizes, expected)


@pytest.mark.parametrize("one_sided", [True, False])
@pytest.mark.parametrize("with_degrees", [True, False])
def test_triangles_tell_true_edges_from_noise(one_sided: bool, with_degrees: bool) -> None:
    adjacency = a_graph_with_triangles()
    reports, mechanism = collect(adjacency, 5.0, one_sided)
    pairs = ReportedPairs.from_reports(reports, mechanism)
    true = np.asarray(adjacency[pairs.sources, pairs.targets]).ravel() > 0
    degrees = estimated_degrees(pairs) if with_degrees else ()
    posterior = pairs.posterior(closure_log_odds(pairs, *degrees))

    def brier(probability: np.ndarray) -> float:
        return float(np.mean((probability - true) ** 2))

    assert brier(posterior) < (0.6 if one_sided else 0.9) * brier(pairs.posterior())
    # Of the pairs given about the same probability, about that share is true.
    for low, high in ((0.0, 0.3), (0.7, 1.0)):
        chosen = (posterior >= low) & (posterior < high + 1e-9)
        if chosen.sum() > 100:
            assert abs(posterior[chosen].mean() - true[chosen].mean()) < 0.08


def test_a_pairs_own_reports_do_not_enter_its_prior() -> None:
    """Both directions of one pair are added to the reports: its common neighbours and its prior stay put."""
    adjacency = a_graph_with_triangles(100)
    lists = adjacency.toarray()
    lists[0, 50] = lists[50, 0] = 0
    with_pair = lists.copy()
    with_pair[0, 50] = with_pair[50, 0] = 1
    mechanism = AdjacencyResponse(epsilon=5.0, num_nodes=100)
    kinds = []
    for dense in (lists, with_pair):
        entries = sp.csr_array(dense)
        reports = NeighbourReports(100, entries.indptr.astype(np.int64), entries.indices.astype(np.int32))
        pairs = ReportedPairs.from_reports(reports, mechanism)
        common, _ = common_neighbours(pairs, np.zeros(100, dtype=np.int64))
        kinds.append(common[(pairs.sources == 0) & (pairs.targets == 50)])
    assert len(kinds[0]) == 0
    assert kinds[1].tolist() == [int((lists[0] * lists[50]).sum())]


@pytest.mark.parametrize("one_sided", [True, False])
def test_estimated_degrees_follow_the_true_ones(one_sided: bool) -> None:
    graph = social_graph(1_000, average_degree=8, features=0, seed=1)
    reports, mechanism = collect(graph.adjacency, 5.0, one_sided)
    pairs = ReportedPairs.from_reports(reports, mechanism)
    estimated, steps = estimated_degrees(pairs)
    raw = np.bincount(pairs.sources, pairs.ayes, 1_000) + np.bincount(pairs.targets, pairs.ayes, 1_000)
    counted = pairs.count_edges(raw, 999)
    assert np.mean((estimated - graph.degrees) ** 2) < 0.95 * np.mean((counted - graph.degrees) ** 2)
    assert 0 < steps[0] == steps[1] < 1
    lengths = np.diff(sp.triu(graph.adjacency, format="csr").indptr) if one_sided else graph.degrees
    better, steps = estimated_degrees(pairs, lengths.astype(float), variance=1e-6)
    assert np.mean((better - graph.degrees) ** 2) < 0.7 * np.mean((estimated - graph.degrees) ** 2)
    assert steps[0] < 1e-3
    assert steps[1] > 0.5 if one_sided else steps[1] < 1e-3


@pytest.mark.parametrize("one_sided", [True, False])
@pytest.mark.parametrize("with_lengths", [True, False])
def test_steps_are_what_a_pairs_own_ayes_add(one_sided: bool, with_lengths: bool) -> None:
    """The degrees are affine in the ayes but for the shrinkage, which one pair of thousands hardly moves."""
    graph = social_graph(1_000, average_degree=8, features=0, seed=1)
    reports, mechanism = collect(graph.adjacency, 5.0, one_sided)
    pairs = ReportedPairs.from_reports(reports, mechanism)
    given = (np.full(1_000, 5.0), 2.0) if with_lengths else ()
    before, steps = estimated_degrees(pairs, *given)
    ayes = pairs.ayes.copy()
    ayes[7] += 1
    after, _ = estimated_degrees(replace(pairs, ayes=ayes), *given)
    ends = [pairs.sources[7], pairs.targets[7]]
    assert np.allclose((after - before)[ends], steps, atol=0.02)
    assert np.median(np.abs(after - before)) < 0.01


def test_every_node_must_have_reported() -> None:
    mechanism = AdjacencyResponse(epsilon=1.0, num_nodes=3)
    reports = NeighbourReports(3, np.array([0, 1, 1]), np.array([1], dtype=np.int32), np.array([0, 2]))
    with pytest.raises(InvalidReports, match="one list from each of 3 nodes"):
        ReportedPairs.from_reports(reports, mechanism)


def test_lists_in_another_order_are_put_in_place() -> None:
    reports, mechanism = collect(random_adjacency(10, 0.4, 2), 2.0, False)
    shuffled = reports.take(np.random.default_rng(0).permutation(10))
    first, second = (ReportedPairs.from_reports(each, mechanism) for each in (reports, shuffled))
    assert np.array_equal(first.sources, second.sources)
    assert np.array_equal(first.ayes, second.ayes)
