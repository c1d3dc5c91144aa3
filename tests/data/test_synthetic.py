import numpy as np
import pytest
from scipy import stats

from privet.data import Graph, Schema, social_graph
from privet.errors import InvalidParameter

NODES = 40_000


def share_within_classes(graph):
    source, target = graph.edges
    return np.mean(graph.labels[source] == graph.labels[target])


@pytest.mark.parametrize("homophily", [0.0, 0.3, 0.8, 1.0])
@pytest.mark.parametrize("classes", [2, 7])
def test_homophily_and_average_degree_come_out_as_asked(classes, homophily):
    graph = social_graph(NODES, classes, 10.0, homophily, features=0, seed=1)
    # About 200,000 edges: 6 standard deviations of the share are 0.007 (false alarm 2e-9), and merging repeated
    # edges, which are likelier within a class, may cost 1 %. The mean degree's deviation is that of N weights.
    assert share_within_classes(graph) == pytest.approx(homophily, abs=0.007 + 0.005)
    assert 2 * graph.num_edges / NODES == pytest.approx(10.0, rel=0.03)
    sizes = np.bincount(graph.labels, minlength=classes) / NODES
    assert np.abs(sizes - 1 / classes).max() < 6 * 0.5 / np.sqrt(NODES)


@pytest.mark.parametrize("exponent", [2.1, 2.5, 3.5])
def test_degrees_follow_the_power_law_asked_for(exponent):
    """The degree is Poisson with a Pareto mean, so its distribution function is an integral over the weights."""
    mean, classes = 12.0, 4
    graph = social_graph(NODES, classes, mean, 0.5, exponent, features=0, seed=2)
    ratio, tail = np.sqrt(2 * NODES / (classes * mean)), exponent - 1
    quantiles = (np.arange(20_000) + 0.5) / 20_000
    weights = (1 - quantiles * (1 - ratio**-tail)) ** (-1 / tail)
    weights *= mean / weights.mean()
    counts = np.arange(200)
    expected = np.array([stats.poisson.cdf(count, weights).mean() for count in counts])
    observed = np.searchsorted(np.sort(graph.degrees), counts, side="right") / NODES
    # Dvoretzky-Kiefer-Wolfowitz at a false-alarm rate of 1e-6, plus 1 % for merged edges.
    assert np.abs(observed - expected).max() < np.sqrt(np.log(2 / 1e-6) / (2 * NODES)) + 0.01
    # In the tail frequencies are compared: 5 standard deviations (false alarm 6e-7) plus 10 % for the same reason.
    tail_share = 1 - expected[60]
    assert np.mean(graph.degrees > 60) == pytest.approx(tail_share, abs=5 * np.sqrt(tail_share / NODES), rel=0.1)


@pytest.mark.parametrize("signal", [0.0, 0.4, 1.0])
def test_features_carry_the_signal_asked_for(signal):
    columns, classes = 101, 3
    graph = social_graph(NODES, classes, features=columns, feature_signal=signal, active_features=5, seed=3)
    features = graph.features
    assert graph.schema == Schema.numeric(columns, 0, 1, classes=classes)
    assert features.shape == (NODES, columns)
    assert np.unique(features.data).tolist() == [1.0]
    own = np.repeat(graph.labels, np.diff(features.indptr)) == features.indices % classes
    # Nearly 200,000 draws: 6 standard deviations are 0.007; draws that coincide, likelier among own columns, 0.03.
    assert own.mean() == pytest.approx(signal + (1 - signal) / classes, abs=0.007 + 0.03 * signal * (1 - signal))
    assert np.diff(features.indptr).max() <= 5
    used = np.bincount(features.indices, minlength=columns)
    assert used.min() > 0.5 * used.mean()


def test_the_graph_is_valid_and_a_seed_repeats_it():
    graph = social_graph(500, seed=4)
    Graph(graph.adjacency, features=graph.features, labels=graph.labels, schema=graph.schema)  # checks everything
    assert graph.adjacency.diagonal().sum() == 0
    assert not graph.weighted
    assert graph.adjacency.indices.dtype == np.int32
    again, other = social_graph(500, seed=4), social_graph(500, seed=5)
    assert np.array_equal(graph.edges, again.edges)
    assert np.array_equal(graph.labels, again.labels)
    assert (graph.features != again.features).nnz == 0
    assert not np.array_equal(graph.degrees, other.degrees)


def test_small_and_featureless_graphs():
    assert social_graph(2, 2, 0.5, seed=0, features=0).features is None
    assert social_graph(50, 3, 30.0, seed=0).num_nodes == 50


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num_nodes", 0),
        ("classes", 1),
        ("average_degree", 0),
        ("average_degree", 100),
        ("homophily", 1.1),
        ("degree_exponent", 2.0),
        ("features", 3),
        ("feature_signal", -0.1),
        ("active_features", 0),
    ],
)
def test_parameters_are_checked(name, value):
    with pytest.raises(InvalidParameter, match=name):
        social_graph(**{"num_nodes": 100, "seed": 0, name: value})
