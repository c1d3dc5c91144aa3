"""HeterPoisson: the sensitivity its accountant assumes, the aggregations, and private inference."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from thorough import thorough

from privet.data import Graph, Schema, Split, social_graph, split_nodes
from privet.errors import InvalidParameter
from privet.graph.subgraphs import SubgraphBatch
from privet.mechanisms import SeededBits
from privet.models.clipping import clipped_gradient
from privet.privacy.accounting.losses import paper_sigma
from privet.systems.central._training_view import TrainingView, standardised_dense
from privet.systems.central.heterpoisson import HeterPoisson

BACKBONES = ["gcn", "gin", "sage"]


def made(**changes: Any) -> HeterPoisson:
    small = {"noise_multiplier": 0.0, "batch_size": 100, "epochs": 2, "hidden_channels": 6, "seed": 0}
    return HeterPoisson(**{**small, **changes})


def random_graph(rng: np.random.Generator, nodes: int, features: int = 5) -> Graph:
    pairs = np.array(np.nonzero(np.triu(rng.random((nodes, nodes)) < 0.5, k=1)))
    part = rng.integers(4, size=nodes)
    part[:2] = 0
    return Graph.from_edges(
        pairs,
        nodes,
        features=rng.normal(size=(nodes, features)).astype(np.float32) * 10,
        labels=rng.integers(3, size=nodes),
        split=Split(part < 2, part == 2, part == 3),
        schema=Schema.numeric(features, -1e3, 1e3, classes=3),
    )


@thorough
@given(
    st.integers(0, 2**32), st.integers(2, 10), st.sampled_from(BACKBONES), st.booleans(),
    st.sampled_from(["inductive", "transductive"]), st.sampled_from([1.0, 2.0]), st.booleans(),
)  # fmt: skip
def test_sensitivity_of_the_clipped_sum(
    seed: int, nodes: int, backbone: Any, is_central: bool, setting: Any, multiplier: float, sparse: bool
) -> None:
    """Given all coins, node 0's presence moves the sum by at most 1/2 if it is central, else by k; see the proof.

    Sub-graphs that it is not in keep their inputs to the bit: it does not enter a denominator.
    """
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, nodes)
    graph = graph.replace(features=sp.csr_array(graph.features)) if sparse else graph
    coins, falls = rng.random(graph.adjacency.nnz) < 0.7, rng.random(nodes) < 0.6
    falls[0] = is_central
    absent = graph.split.train.copy()
    absent[0] = False
    system = made(backbone=backbone, setting=setting, multiplier=multiplier)
    network = system.network(5, 3)
    sums, inputs, batches = [], [], []
    for split in (graph.split, Split(absent, graph.split.validation, graph.split.test)):
        view = TrainingView.of(graph.replace(split=split), "test")
        batch = system.sampler(view).form(np.flatnonzero(view.members & falls), lambda entries: coins[entries])
        x, y = system.inputs(batch, view, sparse=sparse), torch.from_numpy(view.labels[batch.central])
        sums.append(clipped_gradient(network, x if sparse else torch.from_numpy(x), y, 0.5).exact())
        rows = x.dense() if sparse else x
        inputs.append({int(c): row.tobytes() for c, row in zip(batch.central, rows, strict=True)})
        batches.append(batch)
    touched = set(batches[0].central[batches[0].owner[batches[0].peripheral == 0]].tolist())
    moved = float(np.linalg.norm(sums[0] - sums[1]))
    assert moved <= (0.5 if is_central else len(touched))
    assert not (is_central and touched)
    assert all(row == inputs[0][c] for c, row in inputs[1].items() if c not in touched)
    assert inputs[0].keys() - inputs[1].keys() == ({0} if is_central else set())


@pytest.mark.parametrize("backbone", BACKBONES)
def test_aggregations_against_the_equations(backbone: Any) -> None:
    rng = np.random.default_rng(1)
    graph = random_graph(rng, 12)
    view = TrainingView.of(graph, "test")
    system = made(backbone=backbone, gin_lambda=0.5, multiplier=2.0)
    batch = system.sampler(view).draw(SeededBits(0))
    features, degrees = graph.features, graph.degrees
    expected = []
    for b, u in enumerate(batch.central):
        picked = batch.peripheral[batch.owner == b]
        opened = int(view.unprotected_nodes[picked].sum())
        match backbone:
            case "gin":
                row = 1.5 * features[u] + features[picked].sum(0)
            case "sage":
                row = features[u] + features[picked].sum(0) / max(1, opened + min(2.0, degrees[u] - opened))
            case _:
                scales = np.sqrt((degrees[u] + 1.0) * (degrees[picked] + 1.0))
                row = features[u] / (degrees[u] + 1.0) + (features[picked] / scales[:, None]).sum(0)
        expected.append((row - row.mean()) / row.std())
    assert len(batch.owner)
    np.testing.assert_allclose(system.inputs(batch, view), np.array(expected), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("setting", ["inductive", "transductive"])
def test_predictions_read_no_training_node(backbone: Any, setting: Any) -> None:
    """With all training nodes' features undefined, the same network predicts the same."""
    graph = random_graph(np.random.default_rng(2), 30)
    view = TrainingView.of(graph, "test")
    system = made(backbone=backbone, setting=setting)
    network = system.network(5, 3)
    blind = replace(view, features=np.where(view.members[:, None], np.nan, view.features).astype(np.float32))
    found = system.infer(network, blind, SeededBits(0))
    assert np.isfinite(found).all()
    assert np.array_equal(found, system.infer(network, view, SeededBits(0)))
    fewer = replace(view, members=view.members & (np.arange(30) % 2 == 0))
    assert np.array_equal(found, system.infer(network, fewer, SeededBits(0)))


def test_the_inductive_setting_trains_without_unprotected() -> None:
    graph = random_graph(np.random.default_rng(3), 40)
    unprotected = ~graph.split.train
    changed = graph.replace(features=np.where(unprotected[:, None], -graph.features, graph.features))
    inductive, transductive = made(setting="inductive"), made(setting="transductive")
    weights = [system.fit(g).weights["0.weight"] for system in (inductive, transductive) for g in (graph, changed)]
    assert np.array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[2], weights[3])


def test_test_neighbours_bounds_what_a_prediction_sees() -> None:
    graph = random_graph(np.random.default_rng(4), 30)
    view, network = TrainingView.of(graph, "test"), made().network(5, 3)
    alone = made(test_neighbours=0).infer(network, view, SeededBits(0))
    nodes = np.flatnonzero(view.unprotected_nodes)
    nothing = np.zeros(0, np.int64)
    own = made().inputs(SubgraphBatch(nodes, nothing, nothing), view, training=False)
    with torch.no_grad():
        np.testing.assert_array_equal(alone, network(torch.from_numpy(own)).softmax(1).numpy())
    assert not np.array_equal(alone, made(test_neighbours=None).infer(network, view, SeededBits(0)))


@pytest.mark.parametrize("backbone", BACKBONES)
def test_learns_without_noise(backbone: Any) -> None:
    graph = social_graph(1_500, classes=3, average_degree=8, homophily=0.8, features=30, feature_signal=0.6, seed=1)
    graph = graph.replace(split=split_nodes(graph, 0.6, 0.0, seed=1))
    system = HeterPoisson(
        target_epsilon=1.0, backbone=backbone, batch_size=300, epochs=12, hidden_channels=32, seed=0
    ).without_privacy()
    assert system.fit(graph).score(graph.labels, graph.split.test) > 0.9


def test_the_paper_s_claim_is_about_its_own_noise_only() -> None:
    """A figure for SML noise is never shown as a claim about Gaussian noise."""
    system = made(noise_multiplier=8.0, batch_size=10, multiplier=0.0)
    public = SimpleNamespace(num_nodes=30)
    assert system.guarantee(public).published_epsilon is None
    claimed = replace(system, noise="sml").guarantee(public)
    assert claimed.published_epsilon is not None
    assert claimed.published_epsilon < claimed.epsilon


@pytest.mark.parametrize("backbone", ["gin", "sage", "gcn"])
@pytest.mark.parametrize("multiplier", [0.0, 1.0])
def test_sparse_examples_are_the_dense_ones(backbone: str, multiplier: float) -> None:
    graph = random_graph(np.random.default_rng(7), 60)
    rng = np.random.default_rng(8)
    features = np.where(rng.random(graph.features.shape) < 0.3, rng.integers(1, 9, graph.features.shape), 0)
    sparse = graph.replace(features=sp.csr_array(features.astype(np.float32)))
    view, system = TrainingView.of(sparse, "test"), made(backbone=backbone, multiplier=multiplier)
    batch = system.sampler(view).draw(SeededBits(0))
    found = system.inputs(batch, view, sparse=True)
    np.testing.assert_allclose(found.dense(), system.inputs(batch, view), atol=1e-4)


def test_degrees_are_public_only_where_they_are_asked_for() -> None:
    degrees = "each node's degree in the whole graph"
    for backbone, multiplier, asked in [
        ("gin", 0.0, False),
        ("gin", 1.0, True),
        ("sage", 0.0, True),
        ("gcn", 0.0, True),
    ]:
        release = made(backbone=backbone, multiplier=multiplier).release(SimpleNamespace(num_nodes=30))
        assert (degrees in release.unprotected) is asked
    graph = random_graph(np.random.default_rng(6), 30)
    view = TrainingView.of(graph, "test")
    system = made(multiplier=0.0, gin_lambda=0.0)
    batch = system.sampler(view).draw(SeededBits(0))
    view.graph.__dict__["degrees"] = np.full(30, np.iinfo(np.int64).max)  # nonsense, were it read
    expected = batch.matrix(np.ones(len(batch)), np.ones(len(batch.owner)), 30)
    np.testing.assert_allclose(system.inputs(batch, view), standardised_dense(expected @ graph.features), atol=1e-5)


def test_the_published_noise_is_what_the_paper_adds_and_its_sml_form_proves_nothing_of_use() -> None:
    """Facebook at epsilon 2 and M = 1: the notes give sigma 12.7; what is true of SML noise is beyond all use."""
    paper = HeterPoisson(noise_multiplier=1.0, multiplier=1.0, delta="paper")
    noise = paper.published_noise_multiplier(2.0, 22_470)
    process = paper.process(22_470)
    assert paper_sigma(noise) == pytest.approx(12.7, abs=0.1)
    assert process.published_epsilon(noise, paper.delta_for(22_470)) == pytest.approx(2.0, abs=1e-3)
    assert process.epsilon(noise, 1e-5) < 1 < 1e3 < process.epsilon(noise, 1e-5, "sml")
    small = made(noise_multiplier=20.0, batch_size=10, noise="sml", multiplier=0.0)
    guarantee = small.guarantee(SimpleNamespace(num_nodes=30))
    assert guarantee is not None
    assert guarantee.epsilon > 10 * replace(small, noise="gaussian").guarantee(SimpleNamespace(num_nodes=30)).epsilon
    with pytest.raises(InvalidParameter, match="accountant does not hold"):
        HeterPoisson(target_epsilon=2.0, noise="sml")


def test_sml_noise_trains_with_heavier_tails() -> None:
    graph = random_graph(np.random.default_rng(5), 40)
    moved = {}
    for noise in ("gaussian", "sml"):
        system = made(noise_multiplier=50.0, noise=noise, multiplier=0.0, batch_size=20, epochs=20, optimizer="sgd")
        start = system.network(5, 3)[0].weight.detach().numpy()
        moved[noise] = system.fit(graph).weights["0.weight"] - start
    assert not np.array_equal(moved["gaussian"], moved["sml"])
    assert 0.5 < moved["sml"].std() / moved["gaussian"].std() < 2


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"multiplier": -1.0}, "multiplier"),
        ({"noise_multiplier": 1.0, "multiplier": float("inf")}, "multiplier"),
        ({"backbone": "gat"}, "backbone"),
        ({"setting": "semi"}, "setting"),
        ({"test_neighbours": -1}, "test_neighbours"),
    ],
)
def test_bad_parameters_in_one_sentence(changes: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidParameter, match=rf"^{name} must be [^\n]*, not"):
        made(**changes)
