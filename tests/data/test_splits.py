import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.data import Graph, Split, label_rate, load, social_graph, split_edges, split_nodes
from privet.errors import InvalidData, InvalidParameter

fractions = st.floats(0, 1)
seeds = st.integers(0, 2**32)
DIGESTS = ["c8c6f433459904dd", "e24c29e5cee64c59"]


def masks(split):
    return np.stack([split.train, split.validation, split.test])


@given(st.integers(0, 200), fractions, fractions, seeds)
def test_nodes_are_split_by_the_fractions_and_the_seed(count, train, rest, seed):
    validation = (1 - train) * rest
    split = split_nodes(count, train, validation, seed=seed)
    assert (masks(split).sum(axis=0) == 1).all()
    sizes = masks(split).sum(axis=1)
    assert np.abs(sizes - count * np.array([train, validation, 1 - train - validation])).max() <= 1 + 1e-6
    assert np.array_equal(masks(split), masks(split_nodes(count, train, validation, seed=seed)))


def test_the_usual_splits():
    assert masks(split_nodes(1000, seed=0)).sum(axis=1).tolist() == [500, 250, 250]
    assert masks(split_nodes(1000, 0.8, 0, seed=0)).sum(axis=1).tolist() == [800, 0, 200]
    assert not np.array_equal(masks(split_nodes(1000, seed=0)), masks(split_nodes(1000, seed=1)))


def test_a_seed_gives_the_same_split_in_every_run():
    # The nodes were noted from an earlier run; a change would silently change every published figure.
    assert np.flatnonzero(split_nodes(12, seed=3).train).tolist() == [0, 1, 2, 7, 10, 11]


def test_every_node_is_equally_likely_in_training():
    # 20 nodes, 2,000 seeds: by Hoeffding and the union bound a false alarm has probability below 1e-6.
    counts = sum(split_nodes(20, seed=seed).train.astype(int) for seed in range(2000))
    assert np.abs(counts / 2000 - 0.5).max() < np.sqrt(np.log(2 * 20 / 1e-6) / (2 * 2000))


def test_anything_that_counts_its_nodes_can_be_split():
    class Data:  # as PyTorch Geometric's
        num_nodes = 40

    assert (masks(split_nodes(Data(), seed=3)) == masks(split_nodes(40, seed=3))).all()
    for wrong in ([1, 2], "cora", None, -1, True):
        with pytest.raises(InvalidParameter, match="split_nodes takes a graph or a number of nodes, not"):
            split_nodes(wrong, seed=3)


def test_a_split_does_not_depend_on_labels():
    graph = social_graph(2000, seed=0)
    everybody = masks(split_nodes(graph, seed=0))
    labels = graph.labels.copy()
    labels[7] = -1
    assert np.array_equal(masks(split_nodes(graph.replace(labels=labels), seed=0)), everybody)
    assert np.array_equal(masks(split_nodes(graph.replace(labels=None), seed=0)), everybody)
    assert np.array_equal(masks(split_nodes(2000, seed=0)), everybody)


def test_the_split_of_a_labelled_graph_is_that_of_earlier_versions(data_root):
    # Digests of the masks were noted when only labelled nodes were permuted; on a labelled graph nothing may change.
    graph = load("cora", data_root)
    digests = [hashlib.sha256(masks(split_nodes(graph, seed=seed))).hexdigest()[:16] for seed in (0, 1)]
    assert digests == DIGESTS


@given(st.integers(0, 100), fractions, seeds)
def test_label_rate_thins_the_training_nodes_only(count, rate, seed):
    split = split_nodes(count, seed=0)
    thinned = label_rate(split, rate, seed=seed)
    assert not (thinned.train & ~split.train).any()
    assert thinned.train.sum() == round(rate * split.train.sum())
    assert np.array_equal(masks(thinned)[1:], masks(split)[1:])
    assert np.array_equal(thinned.train, label_rate(split, rate, seed=seed).train)


@st.composite
def random_graphs(draw):
    rng = np.random.default_rng(draw(seeds))
    nodes, directed = draw(st.integers(0, 14)), draw(st.booleans())
    pairs = rng.random((nodes, nodes)) < draw(st.sampled_from([0.05, 0.2, 0.45, 0.5]))
    pairs = pairs if directed else np.triu(pairs)
    return Graph.from_edges(np.array(np.nonzero(pairs)), nodes, directed=directed, self_loops="keep")


@given(random_graphs(), st.floats(0, 0.5), st.floats(0, 0.5), seeds)
def test_edges_are_split_with_as_many_non_edges(graph, validation, test, seed):
    edges = {pair for pair in zip(*graph.edges.tolist(), strict=True) if pair[0] != pair[1]}
    nodes = graph.num_nodes
    pairs = {(u, v) for u in range(nodes) for v in range(nodes) if (u != v if graph.directed else u < v)}
    if 2 * len(edges) > len(pairs):
        with pytest.raises(InvalidData, match="as many pairs without an edge as edges"):
            split_edges(graph, validation, test, seed=seed)
        return
    split = split_edges(graph, validation, test, seed=seed)
    parts = (split.train, split.validation, split.test)
    sizes = np.array([part.edges.shape[1] for part in parts])
    wanted = len(edges) * np.array([1 - validation - test, validation, test])
    assert np.abs(sizes - wanted).max() <= 1 + 1e-6
    assert [part.non_edges.shape[1] for part in parts] == sizes.tolist()
    positives = [pair for part in parts for pair in zip(*part.edges.tolist(), strict=True)]
    negatives = [pair for part in parts for pair in zip(*part.non_edges.tolist(), strict=True)]
    assert len(positives) == len(edges)
    assert set(positives) == edges
    assert len(set(negatives)) == len(negatives)
    assert set(negatives) <= pairs - edges
    loops = {(u, u) for u in np.flatnonzero(graph.adjacency.diagonal()).tolist()}
    kept = set(zip(*split.train.edges.tolist(), strict=True)) | loops
    assert set(zip(*split.graph.edges.tolist(), strict=True)) == kept
    again = split_edges(graph, validation, test, seed=seed)
    assert np.array_equal(again.test.non_edges, split.test.non_edges)
    assert np.array_equal(again.test.edges, split.test.edges)


@pytest.mark.parametrize("edges", [[[0, 1, 2], [1, 2, 3]], [[0, 0, 0, 1, 1, 2, 2], [1, 2, 3, 2, 3, 3, 4]]])
def test_every_non_edge_is_equally_likely(edges):
    # One case is drawn by rejection, one by enumeration. Of p non-edges each is in the sample with probability
    # n / p; 3,000 seeds, false alarm below 1e-6 by Hoeffding and the union bound.
    nodes, seeds = 7 if len(edges[0]) == 3 else 6, 3000
    graph = Graph.from_edges(edges, nodes)
    counts = np.zeros((nodes, nodes))
    for seed in range(seeds):
        counts[tuple(split_edges(graph, 0, 1, seed=seed).test.non_edges)] += 1
    possible = np.triu(graph.adjacency.toarray() == 0, k=1)
    bound = np.sqrt(np.log(2 * possible.sum() / 1e-6) / (2 * seeds))
    assert np.abs(counts[possible] / seeds - graph.num_edges / possible.sum()).max() < bound
    assert counts[~possible].sum() == 0


def test_a_larger_graph_is_split_85_5_10_and_keeps_its_node_data():
    graph = social_graph(3000, seed=0)
    split = split_edges(graph, seed=0)
    shares = [part.edges.shape[1] / graph.num_edges for part in (split.train, split.validation, split.test)]
    assert shares == pytest.approx([0.85, 0.05, 0.10], abs=1e-3)
    assert split.graph.num_edges == split.train.edges.shape[1]
    assert (split.graph.features != graph.features).nnz == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: split_nodes(5, -0.1, seed=0),
        lambda: split_nodes(5, 0.8, 0.3, seed=0),
        lambda: split_nodes(5, float("nan"), seed=0),
        lambda: label_rate(Split(*np.zeros((3, 2), bool)), 1.5, seed=0),
        lambda: split_edges(Graph.from_edges([[0], [1]], 4), 0.6, 0.6, seed=0),
    ],
)
def test_fractions_must_be_fractions(call):
    with pytest.raises(InvalidParameter, match="fraction"):
        call()


@pytest.mark.parametrize("directed", [False, True])
def test_edges_among_some_nodes_are_split_and_all_others_stay(directed):
    rng = np.random.default_rng(0)
    pairs = np.array(np.nonzero(np.triu(rng.random((60, 60)) < 0.2, k=1)))
    graph = Graph.from_edges(pairs, 60, directed=directed)
    nodes = rng.random(60) < 0.5
    split = split_edges(graph, 0.2, 0.3, seed=0, nodes=nodes)
    among = nodes[graph.edges].all(axis=0).sum()
    held = np.concatenate([split.validation.edges, split.test.edges], axis=1)
    assert graph.num_edges - split.graph.num_edges == held.shape[1]
    assert held.shape[1] + split.train.edges.shape[1] == among
    assert split.test.edges.shape == split.test.non_edges.shape == (2, among - round(0.7 * among))
    for part in (split.train, split.validation, split.test):
        assert nodes[part.edges].all()
        assert nodes[part.non_edges].all()
        assert (graph.adjacency[part.edges[0], part.edges[1]] != 0).all()
        assert not (graph.adjacency[part.non_edges[0], part.non_edges[1]] != 0).any()
    assert not (split.graph.adjacency[held[0], held[1]] != 0).any()
    with pytest.raises(InvalidData, match="nodes mask"):
        split_edges(graph, seed=0, nodes=np.arange(3))
